import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/views.css";
import "./styles/tree.css";
import "./styles/evaluation.css";
import "./styles/quality.css";
import { Datasets } from "./datasets/list.tsx";
import { DatasetView } from "./datasets/detail.tsx";
import { Jobs, MAX_TOGETHER } from "./jobs/list.tsx";
import { JobView } from "./jobs/view.tsx";
import { Compare } from "./models/compare.tsx";
import { ModelView } from "./models/detail.tsx";
import { Models } from "./models/list.tsx";
import { ViewHead } from "./parts/head.tsx";
import { Empty } from "./parts/states.tsx";
import { Predict } from "./predict/view.tsx";
import { place, type Place } from "./router.ts";
import { Shell } from "./shell.tsx";
import { useSignal } from "./state/signal.ts";
import { Train } from "./train/form.tsx";

const TITLES: Record<string, string> = {
  datasets: "Datasets", train: "Train", jobs: "Jobs", models: "Models", compare: "Models", predict: "Predict",
};

function View({ at }: { at: Place }) {
  const [view = "datasets", ...rest] = at.path;
  if (view === "datasets") return rest[0] ? <DatasetView key={rest[0]} id={rest[0]} /> : <Datasets />;
  if (view === "train") return <Train key={at.query.toString()} query={at.query} />;
  if (view === "jobs" && !rest[0]) return <Jobs />;
  if (view === "jobs") {
    const ids = rest[0].split(",").slice(0, MAX_TOGETHER);
    if (ids.length === 1) return <JobView key={ids[0]} id={ids[0]} alone />;
    return (
      <>
        <ViewHead title="Compare jobs" list="Jobs" />
        <div class="together">{ids.map((id) => <JobView key={id} id={id} alone={false} />)}</div>
      </>
    );
  }
  if (view === "models") return rest[0] ? <ModelView key={`${rest[0]} ${at.query}`} id={rest[0]} /> : <Models />;
  if (view === "compare" && rest.length > 1) return <Compare key={`${rest.join()} ${at.query}`} ids={rest} />;
  if (view === "predict") return <Predict key={`${rest.join()} ${at.query}`} path={rest} />;
  return <Empty title="Page not found"><p><a href="#/">Go to the start page</a></p></Empty>;
}

function Page() {
  const at = useSignal(place);
  const view = at.path[0] ?? "datasets";
  const here = view === "compare" ? "models" : view;
  const first = useRef(true);
  useEffect(() => {
    document.title = `${TITLES[view] ?? "Page not found"} – Literati`;
    if (first.current) first.current = false;
    else document.getElementById("main")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [at]);
  return <Shell here={here}><View at={at} /></Shell>;
}

// A file dropped outside a drop zone must not replace the page.
for (const kind of ["dragover", "drop"] as const) {
  addEventListener(kind, (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
}

render(<Page />, document.getElementById("page")!);
