// What is loaded when a user opens it: one file for all of it, because each further one splits what they share.
export { ScoreView } from "../evaluation/scores.tsx";
export { Evaluation } from "../evaluation/view.tsx";
export { Programs } from "../use/programs.tsx";
