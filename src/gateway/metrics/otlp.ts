import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { flatCopy } from '../../canonical/text.ts'
import type { TracesConfig } from '../../config/index.ts'
import type { UsageRow } from '../../store/usage/row.ts'
import { proxyAgent } from '../../upstreams/channel/proxy-agent.ts'
import { type TraceHeaders, traceParent, traceState } from '../../upstreams/channel/trace-context.ts'
import { operationOf } from './request-families.ts'
import type { AttemptTrace, RequestTrace, TracedAttempt, TracedRequest, Tracer } from './trace.ts'

/** Timeout for exporting one batch, in milliseconds. */
const EXPORT_TIMEOUT = 5000
/** Maximum time for exporting the last batches at shutdown, in milliseconds. */
const FLUSH_TIMEOUT = 3000
/** Maximum number of spans waiting for the collector. Further spans are dropped. */
const MAX_QUEUED_SPANS = 8192
/** Maximum number of characters of an attribute whose value comes from a caller. */
const MAX_ATTRIBUTE_LENGTH = 200

/**
 * Opens a tracer that sends spans to an OpenTelemetry collector (OTLP over HTTP).
 *
 * @param onFault called for each batch that the collector does not accept.
 */
export function openTracer({ otlp, headers, sample, proxy }: TracesConfig, onFault: (fault: unknown) => void): Tracer {
  const exporter = new ReportingExporter({
    ...{ url: otlp, headers: { ...headers }, timeoutMillis: EXPORT_TIMEOUT },
    ...(proxy && { httpAgentOptions: () => proxyAgent(otlp, { proxy, keepAlive: true }) }),
  })
  exporter.onFault = onFault
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, { maxQueueSize: MAX_QUEUED_SPANS, exportTimeoutMillis: EXPORT_TIMEOUT }),
    ],
    resource: RESOURCE,
  })
  const tracer = provider.getTracer('interlingua')
  return {
    begin: request => {
      const span = tracer.startSpan(nameOf(request), optionsOf(request), contextOf(request))
      return new OtlpRequest(span, (attempt, within) =>
        tracer.startSpan(
          `${operationOf(attempt.format, '')} ${truncated(attempt.model)}`,
          { kind: SpanKind.CLIENT, attributes: attemptAttributes(attempt) },
          within,
        ),
      )
    },
    close: async () => {
      const timeout = Promise.withResolvers<void>()
      const timer = setTimeout(timeout.resolve, FLUSH_TIMEOUT)
      await Promise.race([provider.shutdown().catch(onFault), timeout.promise])
      clearTimeout(timer)
    },
  }
}

/** Resource attributes of all spans. */
const SERVICE = { 'service.name': 'interlingua' }
const RESOURCE = {
  attributes: SERVICE,
  merge: () => RESOURCE,
  getRawAttributes: () => Object.entries(SERVICE),
} as unknown as NonNullable<ConstructorParameters<typeof BasicTracerProvider>[0]>['resource'] & object

/** An OTLP exporter that reports failed batches. */
class ReportingExporter extends OTLPTraceExporter {
  onFault: (fault: unknown) => void = () => {}

  override export(spans: ReadableSpan[], done: Parameters<OTLPTraceExporter['export']>[1]): void {
    super.export(spans, result => {
      if (result.error !== undefined) this.onFault(result.error)
      done(result)
    })
  }
}

/** Truncates and copies a string. A mere slice would keep the whole string in memory until its span is exported. */
const truncated = (text: string): string =>
  text.length <= MAX_ATTRIBUTE_LENGTH ? text : flatCopy(text.slice(0, MAX_ATTRIBUTE_LENGTH))

const nameOf = ({ method = 'POST', isInternal = false, path, format }: TracedRequest): string =>
  isInternal ? operationOf(format, '') : `${method} ${path}`

function optionsOf({ method = 'POST', isInternal = false, path, format }: TracedRequest): SpanOptions {
  const operation = { 'gen_ai.operation.name': operationOf(format, isInternal ? '' : path) }
  return isInternal
    ? { kind: SpanKind.INTERNAL, attributes: operation }
    : { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': path, ...operation } }
}

const attemptAttributes = ({ channel, provider, format, model }: TracedAttempt): Attributes => ({
  'gen_ai.operation.name': operationOf(format, ''),
  'gen_ai.provider.name': provider,
  'gen_ai.request.model': truncated(model),
  'interlingua.channel': channel,
  'interlingua.format': format,
})

/** Returns the caller's trace context, so that the caller's trace continues, or else the root context. */
function contextOf({ headers }: TracedRequest): Context {
  const parent = typeof headers['traceparent'] === 'string' ? traceParent(headers['traceparent']) : undefined
  if (parent === undefined) return ROOT_CONTEXT
  const state = traceState(headers)
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...{
      traceId: flatCopy(parent.traceId),
      spanId: flatCopy(parent.spanId),
      traceFlags: parent.flags & 1,
      isRemote: true,
    },
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  })
}

function headersOf(span: Span): TraceHeaders {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & 1}`
  const tracestate = traceState?.serialize() ?? ''
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

type Tokens = Pick<UsageRow, 'input' | 'output'>

const usageAttributes = ({ input, output }: Tokens): Attributes => ({
  ...(input === undefined ? {} : { 'gen_ai.usage.input_tokens': input }),
  ...(output === undefined ? {} : { 'gen_ai.usage.output_tokens': output }),
})

function recordError(span: Span, error: string | undefined): void {
  if (error === undefined) return
  span.setAttribute('error.type', error)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

type Start = (attempt: TracedAttempt, within: Context) => Span

class OtlpRequest implements RequestTrace {
  private readonly span: Span
  private readonly start: Start

  constructor(span: Span, start: Start) {
    this.span = span
    this.start = start
  }

  get headers(): TraceHeaders {
    return headersOf(this.span)
  }

  attempt(attempt: TracedAttempt): AttemptTrace {
    return new OtlpAttempt(this.start(attempt, trace.setSpan(ROOT_CONTEXT, this.span)))
  }

  end(row: UsageRow): void {
    const { span } = this
    span.setAttributes({
      ...usageAttributes(row),
      ...(row.model === undefined ? {} : { 'gen_ai.request.model': truncated(row.model) }),
      ...(row.upstreamModel === undefined ? {} : { 'gen_ai.response.model': truncated(row.upstreamModel) }),
      'http.response.status_code': row.status,
      'interlingua.request_id': row.id,
      'interlingua.attempts': row.attempts,
      'interlingua.losses': row.losses,
    })
    recordError(span, row.error)
    span.end()
  }
}

class OtlpAttempt implements AttemptTrace {
  readonly headers: TraceHeaders
  private readonly span: Span

  constructor(span: Span) {
    this.span = span
    this.headers = headersOf(span)
  }

  answered(status: number): void {
    this.span.setAttribute('http.response.status_code', status)
  }

  end(tokens: Tokens | undefined, error?: string): void {
    if (tokens !== undefined) this.span.setAttributes(usageAttributes(tokens))
    recordError(this.span, error)
    this.span.end()
  }
}
