// Programs that use a dataset, a job or a model, ready to copy.
import { useState } from "preact/hooks";
import { getIfFound } from "../api/client.ts";
import type { Dataset, Preview } from "../api/types.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Field, Select } from "../parts/field.tsx";
import { Await } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { keepInLink, place } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { keyState } from "../state/session.ts";
import { useSignal } from "../state/signal.ts";
import { KEY, LANGUAGES, type Language, source } from "./calls.ts";
import { exampleRow, type Row, type Task, tasksOf, type Used } from "./tasks.ts";

export function Programs({ of }: { of: Used }) {
  const { dataset, job, model } = of;
  const id = model?.dataset_id ?? job?.dataset_id ?? dataset!.id;
  const row = useResource(`${id} ${model?.id}`, async (signal): Promise<{ row?: Row }> => {
    const [preview, data] = await Promise.all([
      getIfFound<Preview>(`/v1/datasets/${id}/preview?rows=1`, signal), dataset ?? getIfFound<Dataset>(`/v1/datasets/${id}`, signal),
    ]);
    return { row: exampleRow(preview, data, model && "tree" in model ? model.tree : undefined) };
  });
  return <Await from={row} what="Loading an example">{(example) => <Source tasks={tasksOf(of, example.row)} />}</Await>;
}

function Source({ tasks }: { tasks: Task[] }) {
  const withKey = useSignal(keyState) === "given";
  const [name, setName] = useState(() => tasks.find((task) => task.name === place.value.query.get("task"))?.name ?? tasks[0].name);
  const task = tasks.find((each) => each.name === name)!;
  const [wanted, setWanted] = useState<Language>(() => languageIn(place.value.query.get("language")));
  const languages = task.call ? LANGUAGES : { python: LANGUAGES.python };
  const language = wanted in languages ? wanted : "python";
  const server = { url: location.origin, withKey };
  const text = task.call ? source(task.call, language, server) : task.python!(server);
  const choose = (next: Language) => {
    setWanted(next);
    keepInLink({ language: next === "curl" ? null : next });
  };
  return (
    <>
      <Field name="What to do" help={task.about}>
        <Select
          value={name} choices={Object.fromEntries(tasks.map((each) => [each.name, each.name]))}
          onValue={(next) => {
            setName(next);
            keepInLink({ task: next === tasks[0].name ? null : next });
          }}
        />
      </Field>
      <Tabs<Language> label="Languages" names={languages as Record<Language, string>} value={language} onValue={choose}>
        <div class="code">
          <CopyButton text={text} label="Copy the program" />
          <pre tabIndex={0} role="region" aria-label={`${LANGUAGES[language]} program`}><code>{text}</code></pre>
        </div>
      </Tabs>
      {withKey && <p class="help">The program reads your API key from the environment variable {KEY}.</p>}
    </>
  );
}

function languageIn(text: string | null): Language {
  return text && text in LANGUAGES ? (text as Language) : "curl";
}
