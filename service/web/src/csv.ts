// Reads column names and first rows of a CSV, and appends predictions to rows.

const DELIMITERS = [",", ";", "\t", "|"];

/** Yields the records with their cells and text; a quoted cell may contain delimiters and line breaks. */
function* records(text: string, delimiter: string): Generator<{ cells: string[]; text: string }> {
  let cells: string[] = [];
  let cell = "";
  let inQuotes = false;
  const end = text.length;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let start = at;
  for (; at <= end; at += 1) {
    const sign = at < end ? text[at] : "\n";
    if (inQuotes) {
      if (at === end) inQuotes = false;
      else if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else inQuotes = false;
      if (at < end) continue;
    }
    if (sign === '"' && cell === "") inQuotes = true;
    else if (sign === delimiter) {
      cells.push(cell);
      cell = "";
    } else if (sign === "\n" || sign === "\r") {
      const body = text.slice(start, at);
      if (body !== "") yield { cells: [...cells, cell], text: body };
      cells = [];
      cell = "";
      if (sign === "\r" && text[at + 1] === "\n") at += 1;
      start = at + 1;
    } else cell += sign;
  }
}

/** Returns the delimiter that occurs most often in the first line, as the server does. */
export function delimiterOf(text: string): string {
  const line = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/).find((each) => each.trim() !== "") ?? "";
  const bare = line.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((sign) => bare.split(sign).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))];
}

/** Returns the cells of the first rows. */
export function firstRows(text: string, most: number, delimiter = delimiterOf(text)): string[][] {
  const rows: string[][] = [];
  for (const record of records(text, delimiter)) {
    rows.push(record.cells);
    if (rows.length === most) break;
  }
  return rows;
}

function quoted(cell: string, delimiter: string): string {
  return cell.includes('"') || cell.includes(delimiter) || /[\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Returns rows of cells as CSV. */
export function csvText(rows: string[][]): string {
  return `${rows.map((cells) => cells.map((cell) => quoted(cell, ",")).join(",")).join("\n")}\n`;
}

/** Removes the apostrophe that the server puts before text which a spreadsheet would take for a formula. */
export function withoutApostrophe(cell: string): string {
  return cell.replace(/^'(?=[=+\-@\t\r])/, "");
}

/** Appends the predictions to the rows; null if their numbers differ. */
export function joined(rows: string, answers: string): string | null {
  const delimiter = delimiterOf(rows);
  const left = [...records(rows, delimiter)].map((record) => record.text);
  const right = [...records(answers, ",")].map((record) => record.cells);
  if (left.length !== right.length) return null;
  return `${left.map((text, i) => [text, ...right[i].map((cell) => quoted(cell, delimiter))].join(delimiter)).join("\n")}\n`;
}
