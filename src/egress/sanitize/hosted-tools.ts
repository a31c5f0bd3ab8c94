import type { HostedKind, Tool } from '../../canonical/tool.ts'

/** Hosted tools that run at upstreams by their `hosted_tools` flag (docs/wire/messages.md#hosted-models). */
const RUN_AT: { readonly [runs: string]: ReadonlySet<HostedKind> } = {
  search: new Set<HostedKind>(['web-search']),
  none: new Set<HostedKind>(),
}

/** Returns true unless the tool is a hosted one that the upstream does not run. */
export const runsAt = (tool: Tool, { hosted_tools = 'all' }: { readonly hosted_tools?: string | undefined }): boolean =>
  tool.type !== 'hosted' || RUN_AT[hosted_tools]?.has(tool.kind) !== false
