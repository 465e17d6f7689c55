// What the views of models show before there is one.
import { Empty } from "../parts/states.tsx";

export function NoModels() {
  return (
    <Empty title="No models yet">
      <p>A job makes a model when it ends or when you finish it.</p>
      <p><a class="button primary" href="#/train">Train a tree</a></p>
    </Empty>
  );
}
