// The panel with programs that use a dataset, a job or a model. They are loaded when they are shown.
import { useState } from "preact/hooks";
import { Await } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import type { Used } from "./tasks.ts";

const NAME = "Use it from a program";

/** A `folded` panel shows only its name until the user opens it. */
export function UseIt({ of, folded }: { of: Used; folded?: true }) {
  const [open, setOpen] = useState(false);
  if (!folded) return <section class="panel use-it" aria-label={NAME}><h2>{NAME}</h2><Loaded of={of} /></section>;
  return (
    <details class="panel use-it" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{NAME}</summary>
      {open && <Loaded of={of} />}
    </details>
  );
}

function Loaded({ of }: { of: Used }) {
  const parts = useResource("parts", () => import("../models/parts.ts"));
  return <Await from={parts} what="Loading the programs">{({ Programs }) => <Programs of={of} />}</Await>;
}
