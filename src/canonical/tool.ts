import type { CacheHint } from './content.ts'
import type { Format, JsonObject, Node } from './node.ts'

/** The default group of tools: naming it equals naming none (OpenAI's Responses, Codex). */
export const DEFAULT_NAMESPACE = 'functions'

/** A named group of tools (for example an MCP server's); writers without groups flatten the names. */
export interface Namespace {
  readonly name: string
  readonly description?: string
}

export interface FunctionTool extends Node {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments; absent when the tool takes none. */
  readonly parameters?: JsonObject
  readonly strict?: boolean
  readonly namespace?: Namespace
  readonly cache?: CacheHint
}

/** A tool whose argument is plain text, maybe bound by a grammar. */
export interface FreeformTool extends Node {
  readonly type: 'freeform'
  readonly name: string
  readonly description?: string
  readonly grammar?: { readonly syntax: string; readonly definition: string }
  readonly namespace?: Namespace
}

export type HostedKind = 'web-search' | 'web-fetch' | 'code-execution'

/** A tool the upstream runs itself. */
export interface HostedTool extends Node {
  readonly type: 'hosted'
  readonly kind: HostedKind
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  readonly maxUses?: number
  readonly contextSize?: string
  readonly location?: {
    readonly city?: string
    readonly country?: string
    readonly region?: string
    readonly timezone?: string
  }
  readonly cache?: CacheHint
}

/** A tool of a type that only one format defines, kept in its place. */
export interface OpaqueTool extends Node {
  readonly type: 'opaque'
  readonly format: Format
  /** The client runs it, as it runs functions; otherwise it is a hosted tool, which the upstream runs. */
  readonly client?: true
  readonly value: JsonObject
}

/** Whether the client runs the tool and answers its calls. */
export const isClientTool = (tool: Tool): boolean =>
  tool.type === 'opaque' ? tool.client === true : tool.type !== 'hosted'

export type Tool = FunctionTool | FreeformTool | HostedTool | OpaqueTool

/** `only` narrows the mode to these tools; `required` with one name is the forced call of that tool. */
export interface ToolChoice extends Node {
  readonly mode: 'auto' | 'none' | 'required'
  readonly only?: readonly string[]
  /** A hosted tool that must be used. */
  readonly hosted?: HostedKind
}
