import type { JsonObject } from '../canonical/node.ts'

/*
 * Request features of Anthropic's models, by the line and version in their names, as flags of the messages dialect.
 *
 * Source: platform.claude.com/docs, read on 2026-11-22: "Troubleshooting thinking" (thinking support, defaults and
 * rejected configurations by model), "Thinking" (tool use, limits and feature compatibility), "Effort", "Preserved
 * thinking", "Mid-conversation system messages", "Models overview", "What's new" of Opus 5.5, Sonnet 5.5, Haiku 5.5 and
 * Fable 5.1, and the migration guides (prefill).
 */

/** Dialect flags that change with one version of some model lines. */
interface Family {
  /** Model lines to which the row applies, or undefined for all. */
  readonly lines?: readonly string[]
  /** First version to which the row applies. */
  readonly since: string
  /** Flags that change with that version. All others are unchanged. */
  readonly dialect: JsonObject
}

const FAMILIES: readonly Family[] = [
  {
    since: '0',
    dialect: {
      ...{ cache: 'auto', system_turns: false, thinking: 'none', efforts: [], max_output: 4096 },
      argument_names: 'plain',
    },
  },
  { since: '3.5', dialect: { max_output: 8192 } },
  { since: '3.7', dialect: { thinking: 'budget', max_output: 64_000 } },
  { lines: ['opus'], since: '4', dialect: { max_output: 32_000 } },
  { lines: ['opus'], since: '4.1', dialect: { sampling: 'one' } },
  { since: '4.5', dialect: { sampling: 'one', max_output: 64_000 } },
  { lines: ['opus'], since: '4.5', dialect: { efforts: ['low', 'medium', 'high'] } },
  {
    since: '4.6',
    dialect: { thinking: 'both', efforts: ['low', 'medium', 'high', 'max'], prefill: false, max_output: 128_000 },
  },
  {
    since: '4.7',
    dialect: { thinking: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'], sampling: 'none' },
  },
  { since: '4.8', dialect: { system_turns: true } },
  { lines: ['sonnet'], since: '5', dialect: { system_turns: false } },
  // Opus and any future line: thinking is always on, and tool calls cannot be forced.
  { since: '5.5', dialect: { system_turns: true, thinking_off: 'never', forced_tools: false, bound_proofs: true } },
  { lines: ['sonnet'], since: '5.5', dialect: { thinking_off: 'between_tools' } },
  { lines: ['haiku'], since: '5.5', dialect: { thinking_off: 'disabled', forced_tools: true } },
  // The Mythos preview has no version.
  {
    lines: ['fable', 'mythos'],
    since: '0',
    dialect: {
      ...{ thinking: 'both', thinking_off: 'never', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
      ...{ forced_tools: false, prefill: false, sampling: 'none', max_output: 128_000 },
    },
  },
  { lines: ['fable', 'mythos'], since: '5', dialect: { system_turns: true, thinking: 'adaptive', forced_tools: true } },
  { lines: ['fable', 'mythos'], since: '5.1', dialect: { forced_tools: false, bound_proofs: true } },
]

const LINE = 'opus|sonnet|haiku|fable|mythos'
const VERSION = '(\\d{1,2})(?:-(\\d{1,2}))?(?!\\d)'
/** Matches `claude-opus-4-5-20251101` and `claude-opus-5`. */
const LINE_FIRST = new RegExp(`claude-(${LINE})(?:-${VERSION})?`)
/** Matches `claude-3-7-sonnet-20250219`, `claude-2-1`, `claude-v2` and `claude-instant-1-2`. */
const VERSION_FIRST = new RegExp(`claude-(?:instant-)?v?${VERSION}(?:-(${LINE}))?`)

/**
 * Returns the flags of one of Anthropic's models, or undefined for any other. Vendor prefixes, dates, dots, `@` and `:`
 * in the name do not matter.
 *
 * @param name the model's name in lower case.
 */
export const claudeDialect = (name: string): JsonObject | undefined =>
  name.includes('claude') ? dialectOf(name.replace(/[._@:/]/g, '-')) : undefined

function dialectOf(name: string): JsonObject {
  const { line, version } = parsedName(name)
  if (version !== undefined) return mergedDialect(line, version)
  const { max_output: _, ...rest } = mergedDialect(line, line === 'mythos' ? 0 : ASSUMED_VERSION)
  return { ...rest, bound_proofs: true }
}

/** Merges the flags of all rows that apply to this line and version. Later rows take precedence. */
function mergedDialect(line: string | undefined, version: number): JsonObject {
  const matching = FAMILIES.filter(family => appliesTo(family, line) && numberOf(family.since) <= version)
  return Object.assign({}, ...matching.map(({ dialect }) => dialect))
}

interface ParsedName {
  readonly line: string | undefined
  readonly version?: number
}

/** Splits a model name into line and version. */
function parsedName(name: string): ParsedName {
  const [, line, major, minor] = LINE_FIRST.exec(name) ?? []
  if (major !== undefined) return { line, version: versionOf(major, minor) }
  const [, legacyMajor, legacyMinor, legacyLine] = VERSION_FIRST.exec(name) ?? []
  return legacyMajor === undefined ? { line } : { line: legacyLine, version: versionOf(legacyMajor, legacyMinor) }
}

const appliesTo = ({ lines }: Family, line: string | undefined): boolean =>
  lines === undefined || (line !== undefined && lines.includes(line))

/** Converts a version to a comparable number: 4.10 is greater than 4.9. */
const versionOf = (major: string, minor = '0'): number => Number(major) * 100 + Number(minor)

function numberOf(version: string): number {
  const [major, minor] = version.split('.')
  return versionOf(major!, minor)
}

/** Version assumed for a Claude model whose name has none: that of a current model without the newest restrictions. */
const ASSUMED_VERSION = numberOf('5')
