// Views that are loaded when they are opened for the first time.
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./states.tsx";

/** Returns a component that loads another one: `lazy(() => import("./view.tsx").then((part) => part.View))`. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): (props: Props) => JSX.Element {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, redraw] = useState({});
    const [error, setError] = useState<unknown>();
    const fetchPart = () => {
      setError(undefined);
      load().then((part) => {
        loaded = part;
        redraw({});
      }, () => setError(new Error("This part of the page could not be loaded.")));
    };
    useEffect(() => {
      if (!loaded) fetchPart();
    }, []);
    if (error !== undefined) return <Failure error={error} retry={fetchPart} />;
    const View = loaded;
    return View ? <View {...props} /> : <Loading />;
  };
}
