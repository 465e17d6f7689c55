// The head of a view.
import type { ComponentChildren } from "preact";

interface Props {
  title: string;
  list?: string; // the name of the list that the view belongs to
  beside?: ComponentChildren; // next to the title
  about?: ComponentChildren;
  level?: "h1" | "h2";
  children?: ComponentChildren; // actions
}

export function ViewHead({ title, list, beside, about, level: Title = "h1", children }: Props) {
  return (
    <header class="view-head">
      {list && <nav class="crumbs" aria-label="Breadcrumb"><a href={`#/${list.toLowerCase()}`}>{list}</a></nav>}
      <div class="row"><Title tabIndex={-1}>{title}</Title>{beside}</div>
      {about && <p class="quiet">{about}</p>}
      {children && <div class="row actions">{children}</div>}
    </header>
  );
}
