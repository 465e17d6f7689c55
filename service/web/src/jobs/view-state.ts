// What the view of a job shows, kept in its link: the chosen tree, the scales and the score.
import { useState } from "preact/hooks";
import { keepInLink, place } from "../router.ts";
import type { Span } from "./axes.ts";
import { isScore, type ScoreName } from "./scoring.ts";

interface ViewState {
  revision: number | null; // null is the newest tree
  log: boolean;
  logTime: boolean;
  score: ScoreName;
  zoom: Span | null; // not kept in the link
}

function read(): ViewState {
  const { query } = place.value;
  const [revision, score] = [Number(query.get("revision")), query.get("score")];
  return {
    revision: Number.isInteger(revision) && revision > 0 ? revision : null,
    log: query.get("log") === "1", logTime: query.get("logtime") === "1", score: isScore(score) ? score : "accuracy", zoom: null,
  };
}

const NEW: ViewState = { revision: null, log: false, logTime: false, score: "accuracy", zoom: null };

/** With `linked`, which is for a job that is alone on the page, the state is read from the link and kept there. */
export function useViewState(linked: boolean): [ViewState, (changes: Partial<ViewState>) => void] {
  const [state, setState] = useState<ViewState>(linked ? read : NEW);
  const change = (changes: Partial<ViewState>) => {
    const next = { ...state, ...changes };
    setState(next);
    if (!linked) return;
    keepInLink({
      revision: next.revision === null ? null : String(next.revision), log: next.log ? "1" : null,
      logtime: next.logTime ? "1" : null, score: next.score === "accuracy" ? null : next.score,
    });
  };
  return [state, change];
}
