import { endSession, type Session, session, setSession } from '../session-state.ts'
import { activityHeaders } from './activity.ts'
import { ProblemError, problemOf } from './problem.ts'

/** Path that all admin API addresses begin with. */
export const API = '/admin/v1'

/** Query, body, headers and abort signal of one call. */
export interface Options {
  readonly query?: { readonly [name: string]: string | number | boolean | undefined }
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Sends a request to the admin API and resolves as soon as the response headers have arrived, so that streams work.
 *
 * @param path below `/admin/v1`; the caller encodes names and ids in it.
 * @throws ProblemError for an error response or an unreachable gateway; AbortError when `signal` aborts.
 */
export async function send(method: Method, path: string, options: Options = {}): Promise<Response> {
  const answer = await fetchAnswer(method, path, options)
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (problem.type === 'csrf' && (await isSessionRenewed())) {
    const second = await fetchAnswer(method, path, options)
    if (second.ok) return second
    throw await problemOf(second)
  }
  // The session ended elsewhere, so the sign-in form appears. The page opens again after signing in.
  if (problem.status === 401 && !path.startsWith('/session')) endSession('expired')
  throw problem
}

async function fetchAnswer(method: Method, path: string, options: Options): Promise<Response> {
  return await fetch(addressOf(path, options.query), {
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
}

/**
 * Reads the session again, because another tab of the browser may have signed in. Returns true for another session of
 * the same user.
 */
async function isSessionRenewed(): Promise<boolean> {
  const before = session.value
  const answer = await fetchAnswer('GET', '/session', {}).catch(() => undefined)
  if (answer?.ok !== true) return false
  const now = (await answer.json()) as Session
  const isOther = now.csrf !== before?.csrf
  if (isOther) setSession(now)
  return isOther && now.user.name === before?.user.name
}

/**
 * Sends a request like `send` and parses the JSON of the response. Undefined for status 204. Any other body is a page of
 * a proxy in between, as for a sign-in, so that the gateway was not reached.
 */
export async function request<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const answer = await send(method, path, options)
  if (answer.status === 204) return undefined as T
  return (await answer.json().catch((fault: unknown) => {
    throw fault instanceof SyntaxError ? new ProblemError(0, { type: 'unreachable' }) : fault
  })) as T
}

/** Sends a GET request and returns its JSON. */
export const get = <T>(path: string, query?: Options['query'], signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, { ...(query === undefined ? {} : { query }), signal })
export const post = <T>(path: string, body: unknown = {}): Promise<T> => request<T>('POST', path, { body })
export const put = <T>(path: string, body: unknown): Promise<T> => request<T>('PUT', path, { body })
export const patch = <T>(path: string, body: unknown): Promise<T> => request<T>('PATCH', path, { body })
export const remove = <T = void>(path: string): Promise<T> => request<T>('DELETE', path)

/** Address of an admin API path for requests and download links. Query parameters without a value are left out. */
export function addressOf(path: string, query: Options['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return API + path + (text === '' ? '' : `?${text}`)
}

function headersOf(method: Method, { body, headers = {} }: Options): { [name: string]: string } {
  const all: { [name: string]: string } = { accept: 'application/json', ...activityHeaders(), ...headers }
  if (body !== undefined) all['content-type'] = 'application/json'
  const csrf = session.value?.csrf
  if (method !== 'GET' && csrf !== undefined) all['x-csrf-token'] = csrf
  return all
}
