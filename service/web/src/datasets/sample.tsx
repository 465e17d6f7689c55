// A table to try Literati with.
import type { ComponentChildren } from "preact";
import loans from "../../../../examples/loans.csv";
import { request } from "../api/client.ts";
import { Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";
import { PLAIN } from "./options.ts";
import { upload } from "./upload.ts";

/** Uploads the sample table and opens the form that trains on it. */
export function SampleButton({ children = "Try it with sample data" }: { children?: ComponentChildren }) {
  const { run, busy, error } = useAction();
  const add = () => run(async () => {
    const file = new File([await (await request(loans)).blob()], "loans.csv", { type: "text/csv" });
    const dataset = await upload(file, { ...PLAIN, name: "loans", target: "repaid", charset: "utf-8" });
    announcement.set("The sample data is added.");
    go(`/train?dataset=${dataset.id}`);
  });
  return (
    <>
      <button type="button" class="primary" disabled={busy} onClick={() => void add()}>{busy ? "Adding the sample data…" : children}</button>
      <Refusal error={error} />
    </>
  );
}
