import { rowOf } from '../../canonical/maps.ts'
import { type JsonObject, parseObject } from '../../canonical/node.ts'
import { objectOf, splitList, textOf } from './draft.ts'

/** How a program finds the upstream's name of a model. */
interface Naming {
  /** True if the program maps a mapped name again. */
  readonly isChained: boolean
  readonly withoutDots: boolean
  /** True if the program reads an effort at the end of a name. */
  readonly hasEfforts: boolean
}

/** Returns the models of a channel: their public names, each with the upstream's name. */
export function modelsOf(
  channel: JsonObject,
  { isChained, withoutDots, hasEfforts }: Naming,
  note: (text: string) => void,
): Map<string, string> {
  const names = splitList(channel['models'], ',')
  const mapping = objectOf(parseObject(textOf(channel['model_mapping']) ?? '{}'))
  if (names.length === 0) note('it has no models')
  const mapped = (name: string): string => {
    const passed = new Set([name])
    let upstream = textOf(rowOf(mapping, name)) ?? name
    while (isChained && !passed.has(upstream)) {
      passed.add(upstream)
      upstream = textOf(rowOf(mapping, upstream)) ?? upstream
    }
    return upstream
  }
  const upstreamOf = (name: string): string => {
    const upstream = mapped(name)
    const model = hasEfforts ? withoutEffort(upstream) : upstream
    if (model !== upstream) note(`"${name}" is "${model}" with an effort: callers set it by the parameters of requests`)
    return withoutDots ? model.replaceAll('.', '') : model
  }
  return new Map(names.map(name => [name, upstreamOf(name)]))
}

/**
 * Matches names that new-api reads as a model and an effort (`setting/reasoning`, and the conversions in
 * `relay/channel`, read on 2026-11-30). No vendor has models of these names.
 */
const EFFORTS: readonly RegExp[] = [
  /^((?:o\d|gpt-5).*?)-(?:x?high|medium|low|minimal|none)$/,
  /^(claude-opus-4-[678].*?)-(?:max|x?high|medium|low|minimal)$/,
  /^(claude-.*)-thinking$/,
  /^(gemini-(?:2\.5|3).*?)-(?:no)?thinking(?:-\d+)?$/,
  /^(grok-3-mini.*?)-(?:high|medium|low)$/,
]

const withoutEffort = (name: string): string =>
  EFFORTS.map(pattern => pattern.exec(name)?.[1]).find(model => model !== undefined) ?? name
