// Renders /openapi.json. The content security policy allows only scripts of this server and nothing inline.

const METHODS = ["get", "post", "put", "delete", "patch"];

/** Returns an element with children. Texts are never read as markup. */
function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Returns the parts of a text; words in backticks become `code` elements. */
function prose(text) {
  const parts = (text ?? "").split("`");
  return parts.map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

/** Returns a schema in a few words, with links to the schemas that it names. */
function typeOf(schema) {
  if (!schema) return ["anything"];
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return [element("a", { href: `#schema-${name}` }, name)];
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return choices.flatMap((choice, i) => (i ? [" or ", ...typeOf(choice)] : typeOf(choice)));
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  if ("const" in schema) return [JSON.stringify(schema.const)];
  if (schema.type === "array") return ["list of ", ...typeOf(schema.items)];
  if (schema.type === "object" && schema.additionalProperties instanceof Object) {
    return ["map to ", ...typeOf(schema.additionalProperties)];
  }
  return [[schema.type ?? "anything", schema.format].filter(Boolean).join(", ")];
}

function limitsOf(schema) {
  const words = {
    minimum: "at least", maximum: "at most", exclusiveMinimum: "above", exclusiveMaximum: "below",
    maxLength: "length at most", maxItems: "items at most", pattern: "pattern",
  };
  const found = Object.entries(words).filter(([key]) => schema?.[key] !== undefined);
  const limits = found.map(([key, word]) => `${word} ${schema[key]}`);
  if (schema?.default !== undefined) limits.push(`default ${JSON.stringify(schema.default)}`);
  return limits.join("; ");
}

function table(heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", {}, text)));
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map((cell) => element("td", {}, ...[cell].flat()))));
  return element("table", {}, head, ...body);
}

function code(value) {
  return element("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

function exampleOf(media) {
  if (media.example !== undefined) return media.example;
  return Object.values(media.examples ?? {})[0]?.value;
}

function parametersOf(operation) {
  if (!operation.parameters?.length) return [];
  const rows = operation.parameters.map((entry) => [
    element("code", {}, entry.name),
    entry.in + (entry.required ? ", required" : ""),
    typeOf(entry.schema),
    [...prose(entry.description), " ", element("span", { className: "quiet" }, limitsOf(entry.schema))],
  ]);
  return [element("h3", {}, "Parameters"), table(["name", "in", "type", ""], rows)];
}

function bodyOf(operation) {
  const content = Object.entries(operation.requestBody?.content ?? {});
  return content.flatMap(([type, media]) => {
    const example = exampleOf(media);
    return [
      element("h3", {}, `Body: ${type}`),
      element("p", {}, ...typeOf(media.schema)),
      example === undefined ? null : code(example),
    ];
  });
}

function curlOf(path, method, operation) {
  const words = ["curl"];
  if (method !== "get") words.push("-X", method.toUpperCase());
  words.push(`${location.origin}${path}`);
  const json = operation.requestBody?.content?.["application/json"];
  const example = json && exampleOf(json);
  if (example !== undefined && json) {
    words.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`);
  }
  return [element("h3", {}, "With curl"), code(words.join(" "))];
}

function responsesOf(operation) {
  const rows = [];
  const samples = [];
  for (const [status, answer] of Object.entries(operation.responses)) {
    const content = Object.entries(answer.content ?? {});
    const types = content.flatMap(([type, media], i) => [i ? ", " : "", `${type}: `, ...typeOf(media.schema)]);
    const headers = Object.keys(answer.headers ?? {}).join(", ");
    rows.push([status, prose(answer.description), types, element("code", {}, headers)]);
    for (const [type, media] of content) {
      const example = exampleOf(media);
      if (status < "400" && example !== undefined) {
        samples.push(element("h3", {}, `${status} ${type}`), code(example));
      }
    }
  }
  return [element("h3", {}, "Responses"), table(["status", "", "body", "headers"], rows), ...samples];
}

function operationOf(path, method, operation) {
  const summary = element(
    "summary", {},
    element("span", { className: "method" }, method.toUpperCase()),
    element("span", { className: "path" }, path),
    element("span", { className: "quiet" }, operation.summary ?? ""),
  );
  const details = element("details", { id: operation.operationId }, summary);
  // Most operations are never opened, so their content is made when they are.
  details.addEventListener("toggle", () => details.append(
    element("p", {}, ...prose(operation.description)),
    ...parametersOf(operation), ...bodyOf(operation), ...curlOf(path, method, operation),
    ...responsesOf(operation),
  ), { once: true });
  return details;
}

function schemaOf(name, schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([field, entry]) => [
    element("code", {}, field),
    typeOf(entry),
    required.has(field) ? "required" : "",
    [...prose(entry.description), " ", element("span", { className: "quiet" }, limitsOf(entry))],
  ]);
  return element(
    "details", { id: `schema-${name}` },
    element("summary", {}, element("span", { className: "path" }, name),
      element("span", { className: "quiet" }, schema.description?.split("\n")[0] ?? "")),
    rows.length ? table(["field", "type", "", ""], rows) : element("p", {}, ...typeOf(schema)),
  );
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

function render(description) {
  document.getElementById("description").replaceChildren(...prose(description.info.description));
  const sections = description.tags.map((tag) => {
    const operations = Object.entries(description.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]?.tags?.includes(tag.name))
        .map((method) => operationOf(path, method, item[method])));
    return operations.length
      ? element("section", {}, element("h2", {}, tag.name), element("p", {}, tag.description), ...operations)
      : null;
  });
  document.getElementById("operations").replaceChildren(...sections.filter(Boolean));
  const schemas = Object.entries(description.components.schemas).sort();
  document.getElementById("schemas").replaceChildren(
    element("h2", {}, "Schemas"), ...schemas.map(([name, schema]) => schemaOf(name, schema)));
  openTarget();
  addEventListener("hashchange", openTarget);
}

try {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  render(await answer.json());
} catch (error) {
  document.getElementById("operations").replaceChildren(
    element("p", {}, `The documentation could not be loaded (${error.message}). Reload the page to try again.`));
}
