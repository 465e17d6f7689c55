// A button that copies a text.
import { useEffect, useState } from "preact/hooks";
import { announcement } from "../state/announcement.ts";
import { Icon } from "./icons.tsx";

const SHOWN = 1500; // milliseconds for which the button says that the text is copied

/** Copies `text`. With `small` the button is an icon, for places beside an id or a parameter. */
export function CopyButton({ text, label, small }: { text: string | (() => string); label: string; small?: boolean }) {
  const [result, setResult] = useState<"" | "Copied" | "Copying failed">("");
  useEffect(() => {
    if (!result) return;
    const timer = setTimeout(() => setResult(""), SHOWN);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    const copied = await copyText(typeof text === "string" ? text : text());
    setResult(copied ? "Copied" : "Copying failed");
    announcement.set(copied ? `Copied: ${label}` : "The browser did not allow copying.");
  };
  return (
    <button
      type="button" class={small ? "icon-button copy" : "small copy"} aria-label={small ? label : undefined} title={result || label}
      onClick={() => void copy()}
    >
      <Icon name={result === "Copied" ? "check" : "copy"} />{!small && (result || label)}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text); // browsers offer the clipboard only over HTTPS and on localhost
  }
}

function copySelected(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden-input";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  const before = document.activeElement as HTMLElement | null;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return copied;
}
