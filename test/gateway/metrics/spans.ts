import { configOf } from '../../builders/config.ts'
import type { TestServer } from '../../builders/gateway.ts'
import { until } from '../../builders/time.ts'
import type { FakeUpstream } from '../../builders/upstream.ts'

/* Span as a collector of traces received it. */

export interface SpanSeen {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code?: number }
  readonly attributes: { readonly [name: string]: unknown }
}

/** Export as a collector received it. */
interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[] }[]
}

interface Exported extends Omit<SpanSeen, 'attributes'> {
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

/** Kinds of spans. */
export const INTERNAL = 1
export const SERVER = 2
export const CLIENT = 3

/** Returns every span that was made. No more spans follow. */
export async function spansOf({
  testServer,
  collector,
}: {
  readonly testServer: TestServer
  readonly collector: FakeUpstream
}): Promise<readonly SpanSeen[]> {
  testServer.server.reload(configOf([]))
  await until(() => collector.seen.length > 0)
  const sent = collector.seen.map(({ text }): Export => JSON.parse(text))
  const spans = sent.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
  return spans
    .flatMap(({ spans }) => spans)
    .map(
      ({ attributes, ...span }): SpanSeen => ({
        ...span,
        attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
      }),
    )
}
