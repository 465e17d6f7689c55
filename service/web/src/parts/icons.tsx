// Line icons, drawn on a 16 by 16 grid.

const PATHS: Record<string, string> = {
  check: "M3 8.5 6.5 12 13 4.5",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  close: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.6v.4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5 12 8l-7 4.5z",
  stop: "M4 4h8v8H4z",
  flag: "M4 14V2.5h8L10 5.5l2 3H4",
  back: "M9.5 3.5 5 8l4.5 4.5",
  forward: "M6.5 3.5 11 8l-4.5 4.5",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  up: "M8 13V3.5M4 7.5l4-4 4 4",
  down: "M8 3v9.5M4 8.5l4 4 4-4",
  full: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  edit: "M3 13l.7-3L11 2.7l2.3 2.3L6 12.3z",
  bell: "M4 11.5V7.5a4 4 0 0 1 8 0v4zM2.8 11.5h10.4M6.7 13.8h2.6",
  help: "M5.5 5.8a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.7M8 12.4v.2",
  system: "M2.5 3.5h11v7h-11zM6 13.5h4",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M8 3 4 12M8 3l4 9" />
      <circle cx="8" cy="3.5" r="2.5" />
      <circle cx="4" cy="12.5" r="2.5" />
      <circle class="other" cx="12" cy="12.5" r="2.5" />
    </svg>
  );
}

export function IconButton(
  { name, label, onClick, disabled }: { name: string; label: string; onClick: () => void; disabled?: boolean },
) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick} disabled={disabled}>
      <Icon name={name} />
    </button>
  );
}
