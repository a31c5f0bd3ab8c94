import { isObject, type Json, type JsonObject, parseObject } from './node.ts'

/*
 * JavaScript rounds integers beyond 2^53, such as the ids of messages and users that a model repeats as arguments of a
 * call. Where a body contains the arguments or the result of a call as JSON, or a schema, whose values a model repeats
 * as well, these integers are kept as they were written: as a raw value, which JSON.stringify writes digit for digit.
 * Every other number stays a number.
 */

/** Fields of a request, an answer or an event that contain the conversation, in any format. */
const CONVERSATIONS: ReadonlySet<unknown> = new Set(
  'messages contents input content output candidates steps choices message list step delta interaction'.split(' '),
)
/** Fields in a conversation that contain arguments or results of calls. */
const FIELDS_OF_CALLS: ReadonlySet<unknown> = new Set('input args arguments response result json data'.split(' '))
/** Fields that declare tools, in a conversation and beside it. */
const TOOL_FIELDS: ReadonlySet<unknown> = new Set(['tools', 'functions', 'toolConfig', 'tool_config'])
/** Fields of a request that may contain a schema, in any format. */
const SCHEMA_OWNERS: ReadonlySet<unknown> = new Set([
  ...TOOL_FIELDS,
  ...'text response_format output_config output_format outputConfig generationConfig generation_config'.split(' '),
])
/** Fields with a schema, in any format. */
const SCHEMA_FIELDS: ReadonlySet<unknown> = new Set([
  ...'parameters input_schema inputSchema json schema json_schema responseSchema response_schema'.split(' '),
  ...'parametersJsonSchema parameters_json_schema responseJsonSchema response_json_schema _responseJsonSchema'.split(
    ' ',
  ),
])

type Path = readonly (string | number)[]

/** Returns true if the value at a path is inside an argument or a result of a call, or inside a schema. */
function isExact(path: Path): boolean {
  const [root] = path
  const outer = path.slice(0, -1)
  if (SCHEMA_OWNERS.has(root) || path.some(key => TOOL_FIELDS.has(key)))
    return outer.some(key => SCHEMA_FIELDS.has(key))
  return CONVERSATIONS.has(root) && outer.some(key => FIELDS_OF_CALLS.has(key))
}

const INTEGER = /^-?\d{16,}$/
/** Minimum length of such an integer, in digits. */
const MIN_LENGTH = 16

/**
 * Maximum number of integers that are kept in one text, and their maximum depth. No conversation that a model can read
 * has more.
 */
const MAX_INTEGERS = 100_000
const MAX_DEPTH = 64

/** Runtimes of the library may lack raw values. There, large integers are rounded. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON?: (text: string) => Json
  readonly isRawJSON?: (value: unknown) => boolean
}

/** Returns true if a value is an integer that is kept as it was written. Copies of a value must not take it apart. */
export const isRawNumber = (value: unknown): value is Json => isRawJSON?.(value) === true

/** Returns true for an object with fields, which an integer that is kept as it was written does not have. */
export const hasFields = (value: unknown): value is JsonObject => isObject(value) && !isRawNumber(value)

/**
 * Parses a JSON text like JSON.parse, but keeps large integers in arguments, results and schemas exactly.
 *
 * @throws SyntaxError for malformed JSON.
 */
export function parseExactly(text: string): Json {
  const value = JSON.parse(text) as Json
  if (mayHaveExactInteger(value)) keepExact(value, inexactIntegersIn(text, isExact))
  return value
}

/** Returns true if the text of a value may have such an integer. Reading the value costs far less than its text would. */
function mayHaveExactInteger(value: Json): boolean {
  if (!isObject(value)) return false
  for (const key in value)
    if ((CONVERSATIONS.has(key) || SCHEMA_OWNERS.has(key)) && hasLargeInteger(value[key]!)) return true
  return false
}

function hasLargeInteger(value: Json, depth = 0): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) if (hasLargeInteger(item, depth + 1)) return true
    return false
  }
  for (const key in value as JsonObject) if (hasLargeInteger((value as JsonObject)[key]!, depth + 1)) return true
  return false
}

/** Parses the JSON text of an object like `parseExactly`. Returns undefined for any other text. */
export function parseExactObject(text: string): JsonObject | undefined {
  try {
    const value = parseExactly(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Parses an event of a stream like `parseExactObject`. Most events have no call, and are not looked through.
 *
 * @param field name of the field that contains arguments in this format.
 */
export const parseExactEvent = (text: string, field: string): JsonObject | undefined =>
  text.includes(field) ? parseExactObject(text) : parseObject(text)

/** Parses the JSON text of a call's arguments or result, with exact integers. Returns undefined for malformed JSON. */
export function parseCallData(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    if (hasLargeInteger(value))
      keepExact(
        value,
        inexactIntegersIn(text, () => true),
      )
    return value
  } catch {
    return undefined
  }
}

/** Parses the JSON text of an object of arguments or results. Returns undefined for any other text. */
export function parseCallObject(text: string): JsonObject | undefined {
  const value = parseCallData(text)
  return isObject(value) ? value : undefined
}

/** An integer that JavaScript would round, and its position in the value. */
interface InexactInteger {
  readonly path: Path
  readonly text: string
}

function keepExact(value: Json, integers: readonly InexactInteger[]): void {
  if (rawJSON === undefined) return
  for (const { path, text } of integers) {
    const key = path.at(-1)
    const parent = path.slice(0, -1).reduce<Json | undefined>(fieldOf, value)
    // A later field of the same name may have replaced the integer.
    if (key !== undefined && parent !== undefined && fieldOf(parent, key) === Number(text))
      (parent as { [key: string | number]: Json })[key] = rawJSON(text)
  }
}

const fieldOf = (value: Json | undefined, key: string | number): Json | undefined =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key as string]
    : undefined

/** Value of `keyStart` in a list. */
const LIST = -1

/** An object or list that contains the current position of a scan. */
interface Level {
  /** Start of the latest field's name in the text, or `LIST`. */
  keyStart: number
  /** End of the latest field's name, or the index of the current item of a list. */
  at: number
  /** The latest field's name, once it was read. A name of megabytes is read once for all integers below it. */
  name: string | undefined
}

/**
 * Finds the integers of a valid JSON text that JavaScript would write with other digits. Scans the text once and skips
 * its strings.
 *
 * @param isWanted whether the integer at a path is returned.
 */
function inexactIntegersIn(text: string, isWanted: (path: Path) => boolean): readonly InexactInteger[] {
  const found: InexactInteger[] = []
  const levels: Level[] = []
  let level: Level = { keyStart: LIST, at: 0, name: undefined }
  let expectsKey = false
  for (let at = 0; at < text.length && found.length < MAX_INTEGERS; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(text, at)
      if (expectsKey) {
        level.keyStart = at
        level.at = end
        level.name = undefined
        expectsKey = false
      }
      at = end - 1
    } else if (character === COMMA) {
      expectsKey = level.keyStart !== LIST
      if (!expectsKey) level.at++
    } else if (character === OBJECT_START || character === LIST_START) {
      expectsKey = character === OBJECT_START
      level = { keyStart: expectsKey ? 0 : LIST, at: 0, name: undefined }
      levels.push(level)
    } else if (character === OBJECT_END || character === LIST_END) {
      levels.pop()
      level = levels.at(-1) ?? level
      expectsKey = false
    } else if (isDigit(character) || character === MINUS) {
      const end = endOfNumber(text, at)
      if (end - at >= MIN_LENGTH && levels.length <= MAX_DEPTH && isInexact(text.slice(at, end))) {
        const path = levels.map(one => keyOf(text, one))
        if (isWanted(path)) found.push({ path, text: text.slice(at, end) })
      }
      at = end - 1
    }
  }
  return found
}

const [QUOTE, COMMA, MINUS, BACKSLASH] = [0x22, 0x2c, 0x2d, 0x5c] as const
const [OBJECT_START, OBJECT_END, LIST_START, LIST_END] = [0x7b, 0x7d, 0x5b, 0x5d] as const

/** The characters `.`, `+`, `-`, `e` and `E`. */
const NUMBER_SIGNS: ReadonlySet<number> = new Set([0x2e, 0x2b, MINUS, 0x65, 0x45])

const isDigit = (character: number): boolean => character >= 0x30 && character <= 0x39
const isInNumber = (character: number): boolean => isDigit(character) || NUMBER_SIGNS.has(character)

function keyOf(text: string, level: Level): string | number {
  const { keyStart, at } = level
  if (keyStart === LIST) return at
  return (level.name ??= JSON.parse(text.slice(keyStart, at)) as string)
}

/** Returns true if JavaScript writes an integer with other digits, even one that a number can hold, such as -2^63. */
const isInexact = (number: string): boolean => INTEGER.test(number) && String(Number(number)) !== number

/** Returns the position after the string that starts here. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote
  while (text.charCodeAt(at - 1) === BACKSLASH) at--
  return (quote - at) % 2 === 1
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isInNumber(text.charCodeAt(end))) end++
  return end
}
