// Sends a body and reports its progress, which fetch cannot do.

interface Message { method?: string; body?: BodyInit; headers: Record<string, string>; signal: AbortSignal }

/** Like fetch; `onSent` is told how many bytes of the body were sent. */
export function fetchWithProgress(path: string, message: Message, onSent: (bytes: number) => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open(message.method ?? "POST", path);
    for (const [name, value] of Object.entries(message.headers)) call.setRequestHeader(name, value);
    call.upload.onprogress = (event) => onSent(event.loaded);
    call.onload = () => resolve(new Response(call.responseText, { status: call.status }));
    call.onerror = () => reject(new TypeError("The request failed."));
    call.onabort = () => reject(new DOMException("The request was stopped.", "AbortError"));
    message.signal.addEventListener("abort", () => call.abort(), { once: true });
    call.send(message.body as XMLHttpRequestBodyInit);
  });
}
