import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/views.css";
import "./styles/tree.css";
import "./styles/evaluation.css";
import "./styles/quality.css";
import "./styles/job.css";
import "./styles/classes.css";
import "./styles/datasets.css";
import "./styles/train.css";
import "./styles/sweeps.css";
import "./styles/runs.css";
import { Datasets } from "./datasets/list.tsx";
import { DatasetView } from "./datasets/detail.tsx";
import { Jobs } from "./jobs/list.tsx";
import { Together } from "./jobs/together.tsx";
import { JobView } from "./jobs/view.tsx";
import { Compare } from "./models/compare.tsx";
import { ModelView } from "./models/detail.tsx";
import { Models } from "./models/list.tsx";
import { lazy } from "./parts/lazy.tsx";
import { Empty } from "./parts/states.tsx";
import { Predict } from "./predict/view.tsx";
import { place, type Place } from "./router.ts";
import { Shell } from "./shell.tsx";
import { useSignal } from "./state/signal.ts";
import { tabTitle } from "./state/tab-title.ts";
import { Train } from "./train/form.tsx";

const SweepView = lazy(() => import("./sweeps/view.tsx").then((part) => part.SweepView));

const TITLES: Record<string, string> = {
  datasets: "Datasets", train: "Train", jobs: "Jobs", models: "Models", compare: "Models", predict: "Predict", sweeps: "Sweep",
};

function View({ at }: { at: Place }) {
  const [view = "datasets", ...rest] = at.path;
  if (view === "datasets") return rest[0] ? <DatasetView key={rest[0]} id={rest[0]} /> : <Datasets />;
  if (view === "train") return <Train key={at.query.toString()} query={at.query} />;
  if (view === "jobs" && !rest[0]) return <Jobs key={at.visit} />;
  if (view === "jobs") return rest[0].includes(",") ? <Together ids={rest[0].split(",")} /> : <JobView key={at.visit} id={rest[0]} alone />;
  if (view === "sweeps" && rest[0]) return <SweepView key={rest[0]} id={rest[0]} />;
  if (view === "models") return rest[0] ? <ModelView key={at.visit} id={rest[0]} /> : <Models key={at.visit} />;
  if (view === "compare" && rest.length > 1) return <Compare key={at.visit} ids={rest} />;
  if (view === "predict") return <Predict key={at.visit} path={rest} />;
  return <Empty title="Page not found"><p><a href="#/">Go to the start page</a></p></Empty>;
}

function Page() {
  const at = useSignal(place);
  const view = at.path[0] ?? "datasets";
  const here = { compare: "models", sweeps: "jobs" }[view] ?? view;
  const first = useRef(true);
  const said = useSignal(tabTitle);
  useEffect(() => void (document.title = `${said ?? TITLES[view] ?? "Page not found"} – Literati`), [said, view]);
  useEffect(() => {
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
