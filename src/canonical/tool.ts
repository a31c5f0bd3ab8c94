import type { CacheHint } from './content.ts'
import type { Format, JsonObject, Node } from './node.ts'

/**
 * The default group of tools. A tool in it has the same meaning as a tool without a group (OpenAI's Responses, Codex).
 */
export const DEFAULT_NAMESPACE = 'functions'

/**
 * A named group of tools, for example the tools of an MCP server. In formats without namespaces, writers add the
 * namespace to the tool name.
 */
export interface Namespace {
  readonly name: string
  readonly description?: string
}

/** A tool whose arguments are a JSON object. */
export interface FunctionTool extends Node {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments, or undefined if the tool takes no arguments. */
  readonly parameters?: JsonObject
  readonly strict?: boolean
  readonly namespace?: Namespace
  readonly cache?: CacheHint
}

/** A tool whose argument is plain text, optionally restricted by a grammar. */
export interface FreeformTool extends Node {
  readonly type: 'freeform'
  readonly name: string
  readonly description?: string
  readonly grammar?: { readonly syntax: string; readonly definition: string }
  readonly namespace?: Namespace
}

export type HostedKind = 'web-search' | 'web-fetch' | 'code-execution'

/** A tool that runs at the upstream. */
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

/** A tool of a type that only one format defines. Other formats' writers drop it. */
export interface OpaqueTool extends Node {
  readonly type: 'opaque'
  readonly format: Format
  /** True if the client runs the tool, like a function. Otherwise the upstream runs it. */
  readonly client?: true
  readonly value: JsonObject
}

/** Returns true if the client runs the tool and sends its results. */
export const isClientTool = (tool: Tool): boolean =>
  tool.type === 'opaque' ? tool.client === true : tool.type !== 'hosted'

export type Tool = FunctionTool | FreeformTool | HostedTool | OpaqueTool

/**
 * The choice of tools that the model may or must call. `only` restricts the mode to these tools. `required` with one
 * name forces a call of that tool.
 */
export interface ToolChoice extends Node {
  readonly mode: 'auto' | 'none' | 'required'
  readonly only?: readonly string[]
  /** Hosted tool that must be used. */
  readonly hosted?: HostedKind
}
