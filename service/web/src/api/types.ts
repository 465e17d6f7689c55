// The types of the API's responses that the page uses. See openapi/openapi.json.

export type ColumnType = "number" | "boolean" | "category";
export type Role = "feature" | "target" | "weight";
export type Cell = string | number | boolean | null;

export interface Histogram { edges: number[]; counts: number[] }

export interface ColumnInfo {
  name: string;
  type: ColumnType;
  role: Role;
  missing: number;
  distinct: number | null;
  minimum: number | null;
  maximum: number | null;
  histogram: Histogram | null;
  categories: Cell[] | null;
  category_counts: number[] | null;
}

export interface DatasetSummary {
  id: string;
  name: string | null;
  sha256: string;
  bytes: number;
  rows: number;
  n_columns: number;
  n_classes: number;
  target: string;
  weight: string | null;
  created_at: string;
}

export interface Dataset extends DatasetSummary {
  dropped: string[];
  columns: ColumnInfo[];
  classes: { label: Cell; count: number }[];
  warnings: string[];
}

export interface Preview { columns: string[]; records: Record<string, Cell>[]; rows: number }

export interface Page<Item> { items: Item[]; next_page_token: string | null }

export type JobState =
  | "QUEUED" | "STARTING" | "RUNNING" | "PAUSING" | "PAUSED" | "STOPPING"
  | "SUCCEEDED" | "CANCELLED" | "FAILED";

export type StopReason =
  | "PROVEN_OPTIMAL" | "GAP_REACHED" | "TIME_LIMIT" | "EXPANSION_LIMIT" | "MEMORY_LIMIT" | "NO_IMPROVEMENT"
  | "USER_FINISH" | "USER_CANCEL" | "WORKER_LOST" | "ERROR";

export type Verb = "finish" | "cancel" | "pause" | "resume";

export interface Progress {
  objective: number | null;
  lower_bound: number | null;
  upper_bound: number | null;
  gap_absolute: number | null;
  gap_relative: number | null;
  beyond_space: boolean;
  expansions: number;
  states_live: number;
  incumbents: number;
  elapsed_seconds: number;
  memory_bytes: number;
}

export interface Parameters {
  max_depth: number;
  max_changepoints: number;
  split_penalty: number;
  changepoint_penalty: number;
  candidates: "adaptive" | "shape" | "quantile" | "all";
  candidate_leaves: number | number[];
  polish: boolean;
  class_weight: "balanced" | Record<string, number> | null;
  categories: "ordered" | "one_hot";
}

export interface Limits {
  time_limit: number | null;
  max_expansions: number | null;
  memory_limit: number | null;
  gap: number;
  gap_absolute: number;
  patience: number | null;
}

export type Validation = { fraction: number; seed: number } | { column: string };

export interface Confusion { labels: Cell[]; counts: number[][] }

export interface Scores {
  rows: number;
  accuracy: number;
  balanced_accuracy: number;
  log_loss: number;
  confusion_matrix: Confusion | null;
}

export type Scored = { train: Scores | null; validation: Scores | null };

export interface Metrics extends Partial<Scored> {
  train_accuracy?: number | null;
  validation_accuracy?: number | null;
  baselines?: { majority?: Scored | null; cart?: Scored | null };
}

/** A job in a list. */
export interface JobSummary {
  id: string;
  state: JobState;
  stop_reason: StopReason | null;
  revision: number;
  name: string | null;
  progress: Progress;
  proven_optimal: boolean;
  proven_space: string;
  dataset_id: string;
  parent_job_id: string | null;
  model_id: string | null;
  metrics: Pick<Metrics, "train_accuracy" | "validation_accuracy"> | null;
  error: { code: string; message: string } | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  links: Record<string, string>;
}

export interface Job extends JobSummary {
  parameters: Parameters;
  limits: Limits;
  validation: Validation | null;
  metrics: Metrics | null;
}

export interface TracePoint { seconds: number; expansions: number; upper: number; lower: number }

export interface Label { type: string; value: unknown }

export interface TreeColumn {
  name: string;
  kind: ColumnType;
  constant: boolean;
  categories?: Label[];
  minimum?: number | null;
  maximum?: number | null;
}

export interface Split {
  column: number;
  thresholds: number[];
  right_categories: number[];
  changepoints: number;
  missing_right: boolean;
  missing_seen: boolean;
  unknown_right: boolean;
  left: number;
  right: number;
}

export interface TreeNode {
  rows: number;
  counts: number[];
  label: number;
  error: number;
  cost: number;
  bound: number;
  proven: boolean;
  split: Split | null;
}

export interface Tree {
  format: string;
  columns: TreeColumn[];
  classes: { dtype: string; labels: Label[] };
  settings: {
    max_depth: number; max_changepoints: number; split_penalty: number; changepoint_penalty: number;
  };
  proof: {
    objective: number; upper_bound: number; lower_bound: number; proven_optimal: boolean; proven_space: string;
    candidate_leaves: number[]; beyond_space: boolean;
  };
  nodes: TreeNode[];
}

export interface Incumbent {
  job_id: string;
  revision: number;
  objective: number;
  upper_bound: number;
  lower_bound: number;
  gap_relative: number;
  beyond_space: boolean;
  proven_optimal: boolean;
  tree: Tree;
  metrics: Metrics;
  found_at: string;
  found_seconds: number | null;
}

/** A model in a list. */
export interface ModelSummary {
  id: string;
  name: string | null;
  job_id: string;
  dataset_id: string;
  objective: number;
  upper_bound: number;
  lower_bound: number;
  gap_relative: number;
  beyond_space: boolean;
  proven_optimal: boolean;
  proven_space: string;
  stop_reason: StopReason;
  metrics: Pick<Metrics, "train_accuracy" | "validation_accuracy">;
  created_at: string;
}

export interface ModelWithTree extends ModelSummary {
  parameters: Parameters;
  metrics: Metrics;
  tree: Tree;
}

export interface Alias { name: string; model_id: string }

export interface PredictionWarning { code: string; column: string | null; count: number; message: string }

export interface Step {
  node: number;
  feature: string;
  value: Cell;
  status: "known" | "missing" | "unknown";
  side: "left" | "right";
  interval: { above: number | null; up_to: number | null } | null;
  categories: Cell[] | null;
  more_categories: number;
  seen: boolean;
}

export interface Predictions {
  predictions: Cell[];
  probabilities: Record<string, number>[];
  leaf_ids: number[];
  warnings: PredictionWarning[];
  explanations?: { steps: Step[] }[];
}

export interface FieldError { pointer: string; code: string; message: string }

export interface Problem { type: string; title: string; status: number; detail: string; errors?: FieldError[] }
