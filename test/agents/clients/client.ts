import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Scenario } from '../scenarios.ts'
import type { Package } from '../versions.ts'

/** Use of a tool in a client's own terms: with arguments, or with the free text of a custom tool. */
export type ToolUse =
  | { readonly tool: string; readonly arguments: JsonObject }
  | { readonly tool: string; readonly input: string }

/** Folders and address of a running client. */
export interface Place {
  /** Temporary home folder, empty at first. */
  readonly home: string
  /** Folder in which the client works. */
  readonly work: string
  /** Address of the gateway, without a path. */
  readonly address: string
  readonly key: string
  /** Model that the client must request. */
  readonly model: string
  readonly scenario: Scenario['name']
}

export interface Command {
  readonly run: readonly [program: string, ...args: string[]]
  readonly env?: { readonly [name: string]: string }
  /** Files to create in the home and work folder before the start, by path. */
  readonly files?: { readonly [path: string]: string | JsonObject }
}

/** A real client. */
export interface Client {
  readonly name: string
  readonly package: Package
  /**
   * Model that the client requests, models that it requests in addition, and other names if it knows an upstream's own
   * models.
   */
  readonly model: string
  readonly otherModels?: readonly string[]
  readonly modelAt?: { readonly [upstream: string]: string }
  /** Tools that the client must offer to the upstream in every format. */
  readonly tools: readonly string[]
  /** Scenarios that the client can run. By default those with sessions. */
  readonly scenarios?: readonly Scenario['name'][]
  /** Whether the client uses a WebSocket. */
  readonly socket?: true
  readonly read: (path: string) => ToolUse
  readonly write: (path: string, content: string) => ToolUse
  /** Returns the command of one run. */
  command(place: Place, installed: string): Command
}
