// A uPlot chart that is as wide as its element and shows the span of time that both charts share.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Span } from "./axes.ts";

interface Content {
  options: (width: number) => uPlot.Options;
  data: () => uPlot.AlignedData;
  span: () => Span;
}

/** Makes the chart when an entry of `makes` changes, and draws it again when one of `draws` does. */
export function usePlot(content: Content, makes: unknown[], draws: unknown[]) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const current = useRef(content);
  current.current = content;

  useEffect(() => {
    const element = host.current!;
    const plot = new uPlot(current.current.options(element.clientWidth), current.current.data(), element);
    chart.current = plot;
    const sized = new ResizeObserver(() => {
      if (element.clientWidth && element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height: plot.height });
    });
    sized.observe(element);
    return () => {
      sized.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, makes);

  useEffect(() => {
    const plot = chart.current;
    if (!plot) return;
    const [min, max] = current.current.span();
    plot.batch(() => {
      plot.setData(current.current.data(), false);
      plot.setScale("x", { min, max });
    });
  }, [...makes, ...draws]);

  return { host, chart };
}
