// How a CSV is read: its separator, decimal sign, encoding and words for missing cells.
import { complaintAt } from "../api/client.ts";
import { Field, Select } from "../parts/field.tsx";
import type { UploadOptions } from "./options.ts";

export const DELIMITERS: Record<string, string> = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars" };
const DELIMITER_CHOICES: Record<string, string> = { ",": "Comma", ";": "Semicolon", tab: "Tab", "|": "Vertical bar" };
const DECIMALS: Record<string, string> = { ".": "Point", ",": "Comma" };
export const CHARSETS: Record<string, string> = { "utf-8": "UTF-8", "windows-1252": "Windows-1252", "iso-8859-1": "ISO-8859-1", "utf-16": "UTF-16" };
const PLACED = ["/query/delimiter", "/query/decimal", "/query/null_values", "/body/lines"];
/** The parts of a request whose errors the form shows at their fields. */
export const PLACED_FIELDS = ["/query/target", "/query/name", ...PLACED];

interface Props {
  options: UploadOptions;
  found: { delimiter: string; charset: string; decimal: string } | undefined; // in words
  error: unknown;
  onChange: (part: Partial<UploadOptions>) => void;
}

export function CsvOptions({ options, found, error, onChange }: Props) {
  const detect = (words: string | undefined) => ({ "": words ? `Detect (${words})` : "Detect" });
  const wrong = PLACED.some((place) => complaintAt(error, place));
  return (
    <details open={wrong || undefined}>
      <summary>CSV options</summary>
      <div class="fields">
        <Field name="Separator" help="The character between cells." error={complaintAt(error, "/query/delimiter")}>
          <Select value={options.delimiter} choices={{ ...detect(found?.delimiter), ...DELIMITER_CHOICES }} onValue={(delimiter) => onChange({ delimiter })} />
        </Field>
        <Field
          name="Decimal sign" error={complaintAt(error, "/query/decimal")}
          help="Detected for each column from all of its cells: 1,5 has a decimal comma, 1,234.5 a decimal point. Choose one if a column has only numbers such as 12,500."
        >
          <Select value={options.decimal} choices={{ ...detect(found?.decimal), ...DECIMALS }} onValue={(decimal) => onChange({ decimal })} />
        </Field>
        <Field name="Encoding" help="The character encoding of the file." error={complaintAt(error, "/body/lines")}>
          <Select value={options.charset} choices={{ ...detect(found?.charset), ...CHARSETS }} onValue={(charset) => onChange({ charset })} />
        </Field>
        <Field
          name="Words for a missing cell" error={complaintAt(error, "/query/null_values")}
          help="Separated by commas. By default NA, NaN, null and similar words. An empty cell is always missing."
        >
          <input value={options.nullValues} onInput={(event) => onChange({ nullValues: event.currentTarget.value })} />
        </Field>
      </div>
    </details>
  );
}
