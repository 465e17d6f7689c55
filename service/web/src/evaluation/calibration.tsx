// Whether the probabilities of the predicted classes are right: the calibration of a tree.
import type { CalibrationBin, ScoresInput } from "../api/types.ts";
import { number, percent } from "../format.ts";
import { DataTable, type Column } from "../parts/table.tsx";
import { at, line, UnitPlot } from "./unit-plot.tsx";

const LARGEST = 15; // radius of the bin with the most rows
const SMALLEST = 3;

const COLUMNS: Column<CalibrationBin>[] = [
  { id: "bin", name: "Probability", value: (bin) => bin.from, cell: (bin) => `${percent(bin.from)} to ${percent(bin.to)}` },
  { id: "mean", name: "Mean probability", value: (bin) => bin.mean_probability, cell: (bin) => percent(bin.mean_probability), right: true },
  { id: "accuracy", name: "Right", value: (bin) => bin.accuracy, cell: (bin) => percent(bin.accuracy), right: true },
  { id: "weight", name: "Rows", value: (bin) => bin.weight, cell: (bin) => number(bin.weight), right: true },
];

export function Calibration({ scores, name }: { scores: ScoresInput; name: string }) {
  const bins = scores.calibration;
  if (!bins?.length) return <p class="quiet">This record is of an older version and has no calibration.</p>;
  const most = Math.max(...bins.map((bin) => bin.weight));
  return (
    <>
      <p>{sentence(scores, bins)}</p>
      <UnitPlot
        across="Probability of the predicted class" up="Right predictions"
        label={`Calibration plot. ${bins.map((bin) => `${percent(bin.mean_probability)} probability: ${percent(bin.accuracy)} right`).join("; ")}.`}
      >
        <path class="chance" d={line([[0, 0], [1, 1]])} />
        {bins.map((bin) => {
          const [x, y] = at(bin.mean_probability, bin.accuracy);
          return (
            <circle class="bin" cx={x} cy={y} r={Math.max(SMALLEST, LARGEST * Math.sqrt(bin.weight / most))}>
              <title>{`${number(bin.weight)} rows with a probability of ${percent(bin.mean_probability)}: ${percent(bin.accuracy)} are right`}</title>
            </circle>
          );
        })}
      </UnitPlot>
      <p class="help">
        Each circle stands for the rows whose predicted class has a similar probability; its area is their number. On the dashed line the
        probabilities are exact. Below it the tree is too sure of itself, above it not sure enough.
      </p>
      <details>
        <summary>Calibration as a table</summary>
        <DataTable label="Calibration table" columns={COLUMNS} rows={bins} id={(bin) => String(bin.from)} saveAs={`${name} calibration`} />
      </details>
    </>
  );
}

function sentence({ accuracy, accuracy_interval: interval }: ScoresInput, bins: CalibrationBin[]): string {
  const total = bins.reduce((sum, bin) => sum + bin.weight, 0);
  const mean = bins.reduce((sum, bin) => sum + bin.weight * bin.mean_probability, 0) / total;
  const start = `On average, the tree gives the class that it predicts a probability of ${percent(mean)}, and ${percent(accuracy)} of its predictions are right`;
  if (!interval) return `${start}.`;
  if (mean > interval.high) return `${start}: it is too sure of itself.`;
  if (mean < interval.low) return `${start}: it is not sure enough.`;
  return `${start}, which agree within the uncertainty of these rows.`;
}
