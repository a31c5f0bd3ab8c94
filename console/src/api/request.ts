import { endSession, session } from '../session-state.ts'
import { ProblemError, problemOf } from './problem.ts'

export const API = '/admin/v1'

export interface Options {
  readonly query?: { readonly [name: string]: string | number | boolean | undefined }
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Sends a request to the admin API and gives its answer once its head has come: for streams.
 *
 * @param path below `/admin/v1`; parts of it that are not the page's own are encoded by the caller.
 * @throws ProblemError for every answer that is no success, and where the gateway cannot be reached; AbortError.
 */
export async function send(method: Method, path: string, options: Options = {}): Promise<Response> {
  const answer = await fetch(addressOf(path, options.query), {
    method,
    headers: headersOf(method, options),
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    credentials: 'same-origin',
    cache: 'no-store',
  }).catch((fault: unknown) => {
    if (fault instanceof DOMException && fault.name === 'AbortError') throw fault
    throw new ProblemError(0, { type: 'unreachable' })
  })
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  // Of a session that ended elsewhere: signing in shows the page again.
  if (problem.status === 401 && !path.startsWith('/session')) endSession('expired')
  throw problem
}

/** The same with the answer's JSON; undefined where it has no body. */
export async function request<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const answer = await send(method, path, options)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}

export const get = <T>(path: string, query?: Options['query'], signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, { ...(query === undefined ? {} : { query }), signal })
export const post = <T>(path: string, body: unknown = {}): Promise<T> => request<T>('POST', path, { body })
export const put = <T>(path: string, body: unknown): Promise<T> => request<T>('PUT', path, { body })
export const patch = <T>(path: string, body: unknown): Promise<T> => request<T>('PATCH', path, { body })
export const remove = <T = void>(path: string): Promise<T> => request<T>('DELETE', path)

/** The address of a path with those parameters of the query that have a value; for links to downloads, too. */
export function addressOf(path: string, query: Options['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return API + path + (text === '' ? '' : `?${text}`)
}

function headersOf(method: Method, { body, headers = {} }: Options): { [name: string]: string } {
  const all: { [name: string]: string } = { accept: 'application/json', ...headers }
  if (body !== undefined) all['content-type'] = 'application/json'
  const csrf = session.value?.csrf
  if (method !== 'GET' && csrf !== undefined) all['x-csrf-token'] = csrf
  return all
}
