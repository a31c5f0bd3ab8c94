import { CallIds, ILLEGAL_CHARACTERS } from '../../canonical/call-ids.ts'
import type { Part, ToolCallPart } from '../../canonical/content.ts'
import { type CalledTool, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { grouped } from '../../canonical/maps.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import {
  DEFAULT_NAMESPACE,
  type FreeformTool,
  type FunctionTool,
  type Tool,
  type ToolChoice,
} from '../../canonical/tool.ts'
import { sha256 } from './sha256.ts'

/** A format's limits for tool names, tool call ids and kinds of tools. */
export interface SanitizeRule {
  /** Maximum length of a tool name. Names consist of letters, digits, `_` and `-` (trap 47). */
  readonly name: number
  /** How a tool name may begin: with a letter, with a letter or `_` (`word`), or with any of its characters (default). */
  readonly beginning?: Beginning
  /** Maximum length of a tool call id. Ids consist of letters, digits, `_` and `-` (trap 46). */
  readonly id: number
  /** True if upstreams refuse a history in which two calls have the same id (trap 6). */
  readonly uniqueIds?: true
  /** True if ids of Kimi's models are sent as the model wrote them. */
  readonly kimiIds?: true
  /**
   * True if the format supports freeform tools. Otherwise, each becomes a function with one string parameter (trap 65).
   */
  readonly freeform: boolean
  /** True if the format has tool namespaces. Otherwise, a declared namespace becomes a prefix of its tools' names. */
  readonly namespaces: boolean
}

interface Sanitized {
  readonly request: CanonicalRequest
  readonly losses: Losses
  readonly renamed: NonNullable<Written<unknown>['renamed']>
}

/**
 * Rewrites tool names, ids and kinds so that the upstream accepts them. List indexes do not change, so the paths of
 * later losses still refer to the original request. The response path reverses every rename.
 */
export function sanitize(request: CanonicalRequest, rule: SanitizeRule): Sanitized {
  if (request.tools === undefined && request.toolChoice === undefined && !request.messages.some(hasCalls))
    return { request, losses: new Losses(), renamed: NO_NAMES }
  const sanitizer = new Sanitizer(rule, request.tools ?? [])
  const tools = request.tools?.map((tool, index) => sanitizer.tool(tool, ['tools', index]))
  const toolChoice = request.toolChoice && sanitizer.choice(request.toolChoice, request.tools ?? [])
  const messages = request.messages.map((message, index) => sanitizer.message(message, index))
  const { losses, renamed } = sanitizer
  if (losses.list.length === 0) return { request, losses, renamed }
  sanitizer.mapOriginalNames(request.tools ?? [])
  const changed = {
    ...request,
    messages,
    ...(tools === undefined ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  }
  return { request: changed, losses, renamed }
}

const NO_NAMES: Sanitized['renamed'] = new Map()

const isCallOrResult = ({ type }: Part): boolean => type === 'tool-call' || type === 'tool-result'

const hasCalls = ({ role, content }: Message): boolean =>
  (role === 'assistant' || role === 'tool') && content.some(isCallOrResult)

/** Rewrites one request. Records the losses and the renamed tools. */
class Sanitizer {
  readonly losses = new Losses()
  readonly renamed = new Map<string, CalledTool>()
  private readonly rule: SanitizeRule
  private readonly ids: CallIds | undefined
  /** Declared namespaces whose names become prefixes of their tools' names. */
  private readonly groups = new Set<string>()

  constructor(rule: SanitizeRule, tools: readonly Tool[]) {
    this.rule = rule
    this.ids = rule.uniqueIds === true ? new CallIds() : undefined
    if (rule.namespaces) return
    for (const tool of tools)
      if ('namespace' in tool && tool.namespace !== undefined && tool.namespace.name !== DEFAULT_NAMESPACE)
        this.groups.add(tool.namespace.name)
  }

  tool(tool: Tool, path: Path): Tool {
    if (tool.type !== 'function' && tool.type !== 'freeform') return tool
    if (tool.type === 'freeform' && !this.rule.freeform) return this.wrap(tool, path)
    const name = this.declareTool(tool)
    if (name !== tool.name) this.losses.changeRestored([...path, 'name'], name, 'name-made-legal')
    if (tool.namespace === undefined || this.rule.namespaces) return { ...tool, name }
    this.losses.dropRestored([...path, 'namespace'], 'no-namespaces')
    const { namespace: _, ...rest } = tool
    return { ...rest, name }
  }

  private wrap(tool: FreeformTool, path: Path): FunctionTool {
    const { name, namespace } = tool
    const valid = this.declareTool(tool)
    this.renamed.set(valid, { name, ...(namespace === undefined ? {} : { namespace: namespace.name }), freeform: true })
    const wrappedTool = wrapTool(tool, valid)
    this.losses.changeRestored(path, wrappedTool, 'wrapped-as-function')
    return wrappedTool
  }

  /**
   * Also maps calls that use a tool's original name, unless the name is ambiguous. The model may have read the original
   * names in its instructions.
   */
  mapOriginalNames(tools: readonly Tool[]): void {
    const namedTools = tools.filter(tool => tool.type === 'function' || tool.type === 'freeform')
    for (const [name, [tool, ...others]] of grouped(namedTools, tool => tool.name)) {
      const original = this.renamed.get(this.name(name, tool!.namespace?.name))
      if (original !== undefined && others.length === 0 && !this.renamed.has(name)) this.renamed.set(name, original)
    }
  }

  choice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
    if (choice.only === undefined) return choice
    const namespaces = new Map(
      tools.flatMap(tool => ('name' in tool ? [[tool.name, tool.namespace?.name] as const] : [])).reverse(),
    )
    const only = choice.only.map((name, index) => {
      const valid = this.name(name, namespaces.get(name))
      if (valid !== name) this.losses.changeRestored(['toolChoice', 'only', index], valid, 'name-made-legal')
      return valid
    })
    return { ...choice, only }
  }

  message(message: Message, at: number): Message {
    if (!hasCalls(message)) return message
    return {
      ...message,
      content: message.content.map((part, index) => this.part(part, ['messages', at, 'content', index])),
    }
  }

  private part(part: Part, path: Path): Part {
    if (part.type === 'tool-call') return this.call(part, path)
    if (part.type !== 'tool-result') return part
    const id = this.id(part.id, this.ids?.result(part.id, part.name), path)
    if (part.freeform === undefined || this.rule.freeform) return { ...part, id }
    this.losses.dropRestored([...path, 'freeform'], 'wrapped-as-function')
    const { freeform: _, ...plain } = part
    return { ...plain, id }
  }

  private call(part: ToolCallPart, path: Path): ToolCallPart {
    const name = this.name(part.name, part.namespace)
    if (name !== part.name) this.losses.changeRestored([...path, 'name'], name, 'name-made-legal')
    const id = this.id(part.id, this.ids?.call(part.id, part.name), path)
    let call: ToolCallPart = { ...part, name, id }
    if (part.namespace !== undefined && !this.rule.namespaces) {
      this.losses.dropRestored([...path, 'namespace'], 'no-namespaces')
      const { namespace: _, ...plain } = call
      call = plain
    }
    if (part.freeform === undefined || this.rule.freeform) return call
    const wrapped = wrapArguments(part.arguments)
    this.losses.changeRestored([...path, 'arguments'], wrapped, 'wrapped-as-function')
    this.losses.dropRestored([...path, 'freeform'], 'wrapped-as-function')
    const { freeform: _, ...plain } = call
    return { ...plain, arguments: wrapped }
  }

  /** Returns the wire name of a declared tool, and records the tool for mapping calls back. */
  private declareTool({ name, namespace }: FunctionTool | FreeformTool): string {
    const valid = this.name(name, namespace?.name)
    if (namespace !== undefined && !this.rule.namespaces) this.renamed.set(valid, { name, namespace: namespace.name })
    return valid
  }

  /**
   * Returns the wire name of a tool. The name depends only on the tool, so that prompts remain stable (law 21). A
   * namespace without declared tools is ignored, because OpenAI uses the names of deferred functions themselves as
   * namespaces of their calls (trap 108).
   */
  private name(name: string, namespace: string | undefined): string {
    const flatName = namespace !== undefined && this.groups.has(namespace) ? `${namespace}__${name}` : name
    const valid = sanitizeName(flatName, this.rule.name, this.rule.beginning)
    if (valid !== name && !this.renamed.has(valid))
      this.renamed.set(valid, namespace === undefined ? { name } : { name, namespace })
    return valid
  }

  /** @param uniqueId the id that distinguishes the call from all others, if the upstream requires one. */
  private id(id: string, uniqueId: string | undefined, path: Path): string {
    const valid = (this.rule.kimiIds === true ? kimiId(id) : undefined) ?? sanitizeName(uniqueId ?? id, this.rule.id)
    const reason = uniqueId === undefined || uniqueId === id ? 'id-made-legal' : 'id-made-unique'
    if (valid !== id) this.losses.changeRestored([...path, 'id'], valid, reason)
    return valid
  }
}

export type Beginning = 'any' | 'word' | 'letter'

/** The first characters that names may have, and what stands before a name with another one. */
const BEGINNINGS: { readonly [B in Beginning]: readonly [valid: RegExp, prefix: string] } = {
  any: [/^/, ''],
  word: [/^[a-zA-Z_]/, '_'],
  // "function name is invalid, must start with a letter" (kimi-cli#1773 and #2531, read on 2026-12-01).
  letter: [/^[a-zA-Z]/, 'f_'],
}

/**
 * Returns the name if it is valid. Otherwise, keeps its valid characters and adds a hash of the whole name to make it
 * unique.
 */
export function sanitizeName(name: string, maxLength: number, beginning: Beginning = 'any'): string {
  const [validBeginning, prefix] = BEGINNINGS[beginning]
  const hasValidBeginning = validBeginning.test(name)
  if (hasValidBeginning && name !== '' && name.length <= maxLength && name.search(ILLEGAL_CHARACTERS) === -1)
    return name
  const hash = sha256(name).slice(0, 8)
  const valid = name.replace(ILLEGAL_CHARACTERS, '_')
  return `${(hasValidBeginning ? valid : `${prefix}${valid}`).slice(0, maxLength - 9)}_${hash}`
}

const KIMI_ID = /^functions\.[a-zA-Z0-9_-]{1,64}:\d{1,6}$/
const LEGAL_KIMI_ID = /^functions_([a-zA-Z0-9_-]{1,64})_(\d{1,6})_[0-9a-f]{8}$/

/**
 * Returns the id that a Kimi model gave to a call, even if it was made legal for a caller by `sanitizeName`. Returns
 * undefined for other ids. Kimi's chat template names the called function by the id only, so the model stops calling
 * tools, or writes calls that servers cannot parse, if its history contains other ids (docs/wire/chat.md#beyond-the-description).
 */
function kimiId(id: string): string | undefined {
  if (KIMI_ID.test(id)) return id
  const [, name, number] = LEGAL_KIMI_ID.exec(id) ?? []
  const original = `functions.${name}:${number}`
  return name !== undefined && sanitizeName(original, id.length) === id ? original : undefined
}

/** Maximum length of the legal form of an id of Kimi, in characters, with the longest tool name. */
const MAX_KIMI_ID = 96

/**
 * Returns the id of a call in the characters that every format takes. The form of an id of Kimi is not shortened, so
 * that `kimiId` can restore it.
 */
export const legalId = (id: string, maxLength: number): string =>
  sanitizeName(id, KIMI_ID.test(id) ? MAX_KIMI_ID : maxLength)

/** Wraps a freeform tool as a function with one string parameter. */
function wrapTool({ description, grammar }: FreeformTool, name: string): FunctionTool {
  const grammarText =
    grammar === undefined ? '' : `\nThe input must match this ${grammar.syntax} grammar:\n${grammar.definition}`
  const text = `${description ?? ''}${grammarText}`.trim()
  return {
    type: 'function',
    name,
    ...(text === '' ? {} : { description: text }),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

const wrapArguments = (input: string): string => JSON.stringify({ input })
