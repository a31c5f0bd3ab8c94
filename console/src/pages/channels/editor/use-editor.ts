import { useState } from 'preact/hooks'
import type { ProblemError } from '../../../api/problem.ts'
import { patch, post } from '../../../api/request.ts'
import type { ChannelDetails, ChannelDraftTest, Provider } from '../../../api/types.ts'
import { asProblem } from '../../../api/use-load.ts'
import { text } from '../texts.ts'
import { type ChannelConfig, changeOf, configOf, type EditorValues, pathsOf } from './values.ts'

/** State and actions of the form of a channel. */
export interface Editor {
  readonly values: EditorValues
  readonly set: (change: Partial<EditorValues>) => void
  readonly setField: (path: string, value: string) => void
  /** Error of a field at its path in the config: `name`, `models`, `auth.client_secret`. */
  readonly errorAt: (path: string) => string | undefined
  /** Errors of fields that the form does not have, each with its path. */
  readonly errorsOfMore: string | undefined
  /** Error that belongs to no field. */
  readonly problem: ProblemError | undefined
  readonly busy: 'test' | 'save' | undefined
  readonly tested: ChannelDraftTest | undefined
  /** Whether the form was changed since the last test. */
  readonly isStale: boolean
  readonly test: () => Promise<void>
  readonly save: () => Promise<void>
}

/** Fields of every channel that the form has. */
const OWN = ['name', 'models', 'priority', 'weight', 'max_concurrent', 'provider']

/** Hook with the form of a channel: a new one, or the stored one whose config is `before`. */
export function useEditor(
  initial: EditorValues,
  provider: (name: string) => Provider,
  before: ChannelConfig | undefined,
  onSaved: (channel: ChannelDetails) => void,
): Editor {
  const [values, setValues] = useState(initial)
  const [problem, setProblem] = useState<ProblemError>()
  const [badJson, setBadJson] = useState<string>()
  const [busy, setBusy] = useState<Editor['busy']>()
  const [tested, setTested] = useState<ChannelDraftTest>()
  const [isStale, setStale] = useState(false)

  const known = [...OWN, ...pathsOf(provider(values.provider), values.auth).map(([path]) => path)]
  const errors = (problem?.errors ?? []).map(({ pointer = '', detail }) => ({
    path: pointer
      .replace(/^\/config(?=\/)/, '')
      .slice(1)
      .replaceAll('/', '.'),
    detail,
  }))
  const isAt = (path: string, field: string): boolean => path === field || path.startsWith(`${field}.`)
  const others = errors.filter(({ path }) => !known.some(field => isAt(path, field)))

  const run = async (what: 'test' | 'save', call: (config: ChannelConfig) => Promise<void>): Promise<void> => {
    if (busy !== undefined) return
    setProblem(undefined)
    setBadJson(undefined)
    let config: ChannelConfig
    try {
      config = configOf(values, provider(values.provider))
    } catch (fault) {
      setBadJson(text().editor.notJson((fault as Error).message))
      return
    }
    setBusy(what)
    await call(config).catch(thrown => setProblem(asProblem(thrown)))
    setBusy(undefined)
  }
  const change = (next: Partial<EditorValues>): void => {
    setValues(all => ({ ...all, ...next }))
    setStale(true)
  }
  const stored = before === undefined ? {} : { stored: String(before['name']) }
  return {
    ...{ values, busy, tested, isStale, set: change },
    setField: (path, value) => change({ fields: { ...values.fields, [path]: value } }),
    errorAt: field => errors.find(({ path }) => isAt(path, field))?.detail,
    errorsOfMore:
      badJson ?? (others.length === 0 ? undefined : others.map(one => `${one.path}: ${one.detail}`).join('\n')),
    problem: errors.length > 0 ? undefined : problem,
    test: () =>
      run('test', async config => {
        setTested(await post<ChannelDraftTest>('/channels/test', { config, ...stored }))
        setStale(false)
      }),
    save: () =>
      run('save', async config => {
        onSaved(
          before === undefined
            ? await post<ChannelDetails>('/channels', config)
            : await patch<ChannelDetails>(
                `/channels/${encodeURIComponent(String(before['name']))}`,
                changeOf(configOf(initial, provider(initial.provider)), config),
              ),
        )
      }),
  }
}
