// The theme: light, dark or system.
import { Signal } from "./signal.ts";

export type Theme = "system" | "light" | "dark";
const NAME = "literati.theme";
const systemDark = matchMedia("(prefers-color-scheme: dark)");

export const theme = new Signal<Theme>((localStorage.getItem(NAME) as Theme | null) ?? "system");
export const dark = new Signal(isDark());

function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemDark.matches);
}

export function chooseTheme(choice: Theme): void {
  if (choice === "system") {
    localStorage.removeItem(NAME);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(NAME, choice);
    document.documentElement.dataset.theme = choice;
  }
  theme.set(choice);
  dark.set(isDark());
}

systemDark.addEventListener("change", () => dark.set(isDark()));

/** Returns a colour of the stylesheet in the current theme, for canvases and exported files. */
export function colour(name: string): string {
  document.head.style.color = `var(--${name})`; // the head is not visible, but its colour is computed
  return getComputedStyle(document.head).color;
}
