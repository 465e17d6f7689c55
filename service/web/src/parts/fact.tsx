// A figure with its name, in a list of facts.
import type { ComponentChildren } from "preact";

export function Fact({ name, children, title }: { name: string; children: ComponentChildren; title?: string }) {
  return <div class="fact" title={title}><dt>{name}</dt><dd>{children}</dd></div>;
}
