// The parts of the tree view that are loaded when they are needed.
export { Features } from "./features.tsx";
export { Icicle } from "./icicle.tsx";
export { RulesTable } from "./rules-table.tsx";
