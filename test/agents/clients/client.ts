import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Scenario } from '../scenarios.ts'
import type { Package } from '../versions.ts'

/** Use of a tool in a client's own words: with arguments, or with the free text of a custom tool. */
export type ToolUse =
  | { readonly tool: string; readonly arguments: JsonObject }
  | { readonly tool: string; readonly input: string }

/** Where a client runs. */
export interface Place {
  /** Its throw-away home, empty. */
  readonly home: string
  /** The folder it works in. */
  readonly work: string
  /** The gateway, without a path. */
  readonly address: string
  readonly key: string
  /** What it is to ask for. */
  readonly model: string
  readonly scenario: Scenario['name']
}

export interface Command {
  readonly run: readonly [program: string, ...args: string[]]
  readonly env?: { readonly [name: string]: string }
  /** Files to lay in its home and its work folder first, by path. */
  readonly files?: { readonly [path: string]: string | JsonObject }
}

/** One real client. */
export interface Client {
  readonly name: string
  readonly package: Package
  /** The model it asks for; those it asks for beside it; others where it knows an upstream's own. */
  readonly model: string
  readonly otherModels?: readonly string[]
  readonly modelAt?: { readonly [upstream: string]: string }
  /** Tools that the upstream must be offered, whatever its format. */
  readonly tools: readonly string[]
  /** The scenarios it can play; without this, sessions. */
  readonly scenarios?: readonly Scenario['name'][]
  /** It speaks over a WebSocket. */
  readonly socket?: true
  readonly read: (path: string) => ToolUse
  readonly write: (path: string, content: string) => ToolUse
  /** How it is run once. */
  command(place: Place, installed: string): Command
}
