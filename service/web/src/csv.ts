// Reads column names and first rows of a CSV, and appends predictions to rows.

const DELIMITERS = [",", ";", "\t", "|"];

export interface CsvRecord { cells: string[]; text: string }

/** Returns records with their cells and text; a quoted cell may contain delimiters and line breaks. */
export function* records(text: string, delimiter: string): Generator<CsvRecord> {
  let start = 0;
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  const end = text.length;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  start = at;
  for (; at <= end; at += 1) {
    const sign = at < end ? text[at] : "\n";
    if (quoted) {
      if (at === end) quoted = false;
      else if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
      if (at < end) continue;
    }
    if (sign === '"' && cell === "") quoted = true;
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

export function firstRecords(text: string, most: number): { delimiter: string; rows: string[][] } {
  const delimiter = delimiterOf(text);
  const rows: string[][] = [];
  for (const record of records(text, delimiter)) {
    rows.push(record.cells);
    if (rows.length === most) break;
  }
  return { delimiter, rows };
}

function written(cell: string, delimiter: string): string {
  return cell.includes('"') || cell.includes(delimiter) || /[\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Appends the predictions to the rows; null if their numbers differ. */
export function joined(rows: string, answers: string): string | null {
  const delimiter = delimiterOf(rows);
  const left = [...records(rows, delimiter)].map((record) => record.text);
  const right = [...records(answers, ",")].map((record) => record.cells);
  if (left.length !== right.length) return null;
  return `${left.map((text, i) => [text, ...right[i].map((cell) => written(cell, delimiter))].join(delimiter)).join("\n")}\n`;
}
