import type { Family, Sample } from './family.ts'
import { type Histogram, NONE, type RequestLabels, type Series, TOKEN_KINDS } from './requests.ts'

/** Returns the preset of a channel by the channel's name. */
export type ProviderOf = (channel: string) => string | undefined

type Labels = { readonly [name: string]: string }
/** A count, with labels in addition to those of the counter. */
type Count = readonly [more: Labels, value: number]

interface Counter {
  readonly help: string
  /** Request labels of this counter. Values are summed over the other labels. */
  readonly by: readonly (keyof RequestLabels)[]
  readonly of: (series: Series) => readonly Count[]
}

const ALL_LABELS = ['door', 'format', 'model', 'channel', 'upstream_format', 'status'] as const
const unlabelled = (value: number): readonly Count[] => (value === 0 ? [] : [[{}, value]])

export const COUNTERS: { readonly [name: string]: Counter } = {
  interlingua_requests_total: {
    help: 'Finished requests.',
    by: ALL_LABELS,
    of: ({ counts }) => unlabelled(counts.requests),
  },
  interlingua_errors_total: {
    help: 'Failed requests by kind of error.',
    by: ['door', 'format', 'model', 'channel'],
    of: ({ errors }) => [...errors].map(([error, count]) => [{ error }, count]),
  },
  interlingua_attempts_total: {
    help: 'Requests to upstreams; more than one per request are failovers.',
    by: ['format', 'model', 'channel'],
    of: ({ counts }) => unlabelled(counts.attempts),
  },
  interlingua_tokens_total: {
    help: 'Tokens by kind; input and output include the other kinds.',
    by: ['format', 'model', 'channel'],
    of: ({ tokens }) =>
      TOKEN_KINDS.map(([kind], index): Count => [{ kind }, tokens[index]!]).filter(([, count]) => count > 0),
  },
  interlingua_losses_total: {
    help: 'Losses: details of requests or answers that the translation dropped or changed.',
    by: ['format', 'upstream_format', 'model'],
    of: ({ counts }) => unlabelled(counts.losses),
  },
  interlingua_additions_total: {
    help: 'Additions to requests, such as a token limit that an upstream requires.',
    by: ['format', 'upstream_format', 'model'],
    of: ({ counts }) => unlabelled(counts.additions),
  },
  interlingua_lossy_requests_total: {
    help: 'Requests that lost something in translation.',
    by: ['format', 'upstream_format', 'model'],
    of: ({ counts }) => unlabelled(counts.lossy),
  },
  interlingua_cost_dollars_total: {
    help: 'Cost of requests in US dollars; requests with unknown prices are not included.',
    by: ['model', 'channel'],
    of: ({ counts }) => unlabelled(counts.nanodollars / 1e9),
  },
  interlingua_unpriced_requests_total: {
    help: 'Requests that used tokens of unknown price.',
    by: ['model', 'channel'],
    of: ({ counts }) => unlabelled(counts.unpriced),
  },
  interlingua_estimated_requests_total: {
    help: 'Requests whose tokens and cost are estimated.',
    by: ['model', 'channel'],
    of: ({ counts }) => unlabelled(counts.estimated),
  },
  interlingua_affinity_requests_total: {
    help: 'Requests whose conversation decided between channels or keys; `hit` is true if the upstream had a part of the prompt cached.',
    by: ['model', 'channel'],
    of: ({ counts: { affine, affineHits } }) =>
      affine === 0
        ? []
        : [
            [{ hit: 'true' }, affineHits],
            [{ hit: 'false' }, affine - affineHits],
          ],
  },
}

interface Distribution {
  readonly help: string
  readonly labels: (labels: RequestLabels, providerOf: ProviderOf) => Labels
  readonly of: (series: Series) => readonly (readonly [more: Labels, histogram: Histogram])[]
}

/** OpenTelemetry's operation names by format. Formats without one use the format's name. */
const OPERATIONS: { readonly [format: string]: string } = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  contents: 'generate_content',
  completions: 'text_completion',
  embeddings: 'embeddings',
}

export const operationOf = (format: string, path: string): string =>
  /embed/i.test(path) ? 'embeddings' : (OPERATIONS[format] ?? format)

const genAi = ({ format, door: path, model, channel }: RequestLabels, providerOf: ProviderOf): Labels => ({
  gen_ai_operation_name: operationOf(format, path),
  gen_ai_provider_name: providerOf(channel) ?? NONE,
  gen_ai_request_model: model,
})

/**
 * Histograms by name. `gen_ai_*` names follow OpenTelemetry's semantic conventions for generative AI, with underscores.
 */
export const HISTOGRAMS: { readonly [name: string]: Distribution } = {
  interlingua_request_duration_seconds: {
    help: 'Time from the head of a request to the end of its answer.',
    labels: labels => ({ ...labels }),
    of: ({ duration }) => [[{}, duration]],
  },
  interlingua_first_byte_seconds: {
    help: 'Time from the head of a request to the first byte of its answer.',
    labels: labels => ({ ...labels }),
    of: ({ firstByte }) => [[{}, firstByte]],
  },
  gen_ai_server_request_duration_seconds: {
    help: 'Time from the head of a request to the end of its answer.',
    labels: genAi,
    of: ({ labels: { status }, duration }) => [[status === '2xx' ? {} : { error_type: status }, duration]],
  },
  gen_ai_server_time_to_first_token_seconds: {
    help: 'Time from the head of a request to the first byte of its successful answer.',
    labels: genAi,
    of: ({ labels: { status }, firstByte }) => (status === '2xx' ? [[{}, firstByte]] : []),
  },
  gen_ai_client_token_usage: {
    help: 'Tokens of prompts and answers.',
    labels: genAi,
    of: ({ input, output }) => [
      [{ gen_ai_token_type: 'input' }, input],
      [{ gen_ai_token_type: 'output' }, output],
    ],
  },
}

/** Builds all request metrics from the series of all processes. */
export function requestFamilies(all: readonly Series[], providerOf: ProviderOf): readonly Family[] {
  return [
    ...Object.entries(COUNTERS).map(([name, counter]) => counterFamily(name, counter, all)),
    ...Object.entries(HISTOGRAMS).map(([name, distribution]) => histogramFamily(name, distribution, all, providerOf)),
  ]
}

function counterFamily(name: string, { help, by, of }: Counter, all: readonly Series[]): Family {
  const sums = new Map<string, { readonly labels: Labels; value: number }>()
  for (const series of all)
    for (const [more, value] of of(series)) {
      const labels = { ...Object.fromEntries(by.map(label => [label, series.labels[label]])), ...more }
      const key = JSON.stringify(labels)
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { labels, value })
      else sum.value += value
    }
  return { name, help, type: 'counter', aggregator: 'sum', values: [...sums.values()] }
}

function histogramFamily(
  name: string,
  { help, labels, of }: Distribution,
  all: readonly Series[],
  providerOf: ProviderOf,
): Family {
  const sums = new Map<string, { readonly labelSet: Labels; readonly sum: Histogram }>()
  for (const series of all)
    for (const [more, histogram] of of(series)) {
      const labelSet = { ...labels(series.labels, providerOf), ...more }
      const key = JSON.stringify(labelSet)
      const { sum } = sums.get(key) ?? { sum: histogram.empty() }
      sum.add(histogram)
      sums.set(key, { labelSet, sum })
    }
  const values = [...sums.values()].flatMap(({ labelSet, sum }): readonly Sample[] => sum.samples(name, labelSet))
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}
