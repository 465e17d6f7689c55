// The frame of every view: navigation, sign-in, connection state and announcements.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./parts/dialog.tsx";
import { Field } from "./parts/field.tsx";
import { FootMessage } from "./parts/foot-message.tsx";
import { Icon, IconButton, Logo } from "./parts/icons.tsx";
import { announcement } from "./state/announcement.ts";
import { chooseTheme, theme, type Theme } from "./state/appearance.ts";
import { retry, lost } from "./state/connection.ts";
import { keyState, signIn, signOut } from "./state/session.ts";
import { useSignal } from "./state/signal.ts";
import { tour } from "./state/tour.ts";
import { Tour } from "./tour.tsx";

const VIEWS = { datasets: "Datasets", train: "Train", jobs: "Jobs", models: "Models", predict: "Predict" };
const THEMES: Record<Theme, { icon: string; next: Theme }> = {
  system: { icon: "system", next: "light" },
  light: { icon: "sun", next: "dark" },
  dark: { icon: "moon", next: "system" },
};

export function Shell({ here, children }: { here: string; children: ComponentChildren }) {
  const away = useSignal(lost);
  const key = useSignal(keyState);
  const said = useSignal(announcement);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#/"><Logo />Literati</a>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([path, name]) => (
            <a href={`#/${path}`} aria-current={here === path ? "page" : undefined}>{name}</a>
          ))}
        </nav>
        <div class="row push">
          <a class="quiet" href="/docs">API</a>
          <IconButton name="help" label="Tour" onClick={() => tour.set("open")} />
          <ThemeSwitch />
          {key === "given" && <button type="button" class="small" onClick={signOut}>Sign out</button>}
        </div>
      </header>
      {away && (
        <div class="lost" role="alert">
          <Icon name="warning" />
          <span>The connection is lost, so this page may be outdated. It reconnects automatically.</span>
          <button type="button" class="small" onClick={retry}>Try now</button>
        </div>
      )}
      <Tour />
      <main id="main" tabIndex={-1}>{children}</main>
      <FootMessage />
      {(key === "wanted" || key === "wrong") && <SignIn wrong={key === "wrong"} />}
      <div class="unseen" role="status" aria-live="polite">{said}</div>
    </>
  );
}

function ThemeSwitch() {
  const chosen = useSignal(theme);
  const { icon, next } = THEMES[chosen];
  return <IconButton name={icon} label={`Theme: ${chosen}`} onClick={() => chooseTheme(next)} />;
}

function SignIn({ wrong }: { wrong: boolean }) {
  const [text, setText] = useState("");
  return (
    <Dialog title="Sign in">
      <form onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) signIn(text.trim());
        setText("");
      }}>
        <p>This server requires an API key. It is kept in this tab only, until you close the tab.</p>
        <Field
          name="API key" help="It starts with lit_. The server's operator creates one with literati-server keys add, or python -m service.keys add in the repository."
          error={wrong ? "This key is not valid." : undefined}
        >
          <input type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <div class="row end"><button class="primary">Sign in</button></div>
      </form>
    </Dialog>
  );
}
