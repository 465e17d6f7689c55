// The menu in which the user chooses the columns of a table.
import { useRef } from "preact/hooks";

interface Props {
  columns: { id: string; name: string }[];
  shown: string[];
  onShown: (shown: string[] | null) => void; // null: the usual ones
}

export function ColumnMenu({ columns, shown, onShown }: Props) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  const toggle = (id: string, on: boolean) =>
    onShown(columns.map((column) => column.id).filter((each) => (each === id ? on : shown.includes(each))));
  return (
    <details
      class="menu" ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        close();
        menu.current.querySelector("summary")?.focus();
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !menu.current?.contains(next)) close();
      }}
    >
      <summary class="button">Columns</summary>
      <div class="menu-body" role="group" aria-label="Columns" tabIndex={-1}>
        {columns.map((column) => (
          <label key={column.id}>
            <input type="checkbox" checked={shown.includes(column.id)} onChange={(event) => toggle(column.id, event.currentTarget.checked)} />
            {" "}{column.name}
          </label>
        ))}
        <button type="button" class="small" onClick={() => onShown(null)}>Usual columns</button>
      </div>
    </details>
  );
}
