// A table to try Literati with.
import type { ComponentChildren } from "preact";
import loans from "../../../../examples/loans.csv";
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
    const answer = await fetch(loans);
    if (!answer.ok) throw new Error("The sample data cannot be loaded.");
    const file = new File([await answer.blob()], "loans.csv", { type: "text/csv" });
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
