// The panel with programs that use a dataset, a job or a model. It is loaded when it is shown.
import { Await } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import type { Used } from "./tasks.ts";

export function UseIt({ of }: { of: Used }) {
  const parts = useResource("parts", () => import("../models/parts.ts"));
  return <Await from={parts} what="Loading the programs">{({ Programs }) => <Programs of={of} />}</Await>;
}
