import { type Format, type Headers, recogniseAt } from '../../format.ts'
import { chat } from '../chat/index.ts'
import { cohereErrorFacts } from '../cohere-error.ts'
import { detailFacts } from '../embeddings/voyage.ts'
import { rankingFacts, ranksFacts } from './facts.ts'
import { answerLint, requestLint, rulesOf, type Vendor } from './lint.ts'

/* Rankings. Three vendors share a path but use different bodies. Version 2 of Cohere's API has a separate path. */

const JINA: Vendor = { page: 'https://jina.ai/reranker/', top: 'top_n', otherTop: 'top_k', returns: true }
const VOYAGE: Vendor = {
  ...{ page: 'https://docs.voyageai.com/reference/reranker-api', top: 'top_k', otherTop: 'top_n', returns: false },
}
const COHERE_1: Vendor = {
  ...{ page: 'https://docs.cohere.com/v1/reference/rerank', top: 'top_n', otherTop: 'top_k', returns: false },
}
const COHERE_2: Vendor = {
  ...{ page: 'https://docs.cohere.com/reference/rerank', top: 'top_n', otherTop: 'top_k', returns: undefined },
}

/** Adds a client name to the headers. Servers use it to distinguish vendors at the shared path. */
const withClientName =
  (names: Headers): Format['headers'] =>
  key => ({ ...chat.headers(key), ...names })

type FormatParts = Pick<Format, 'name' | 'base' | 'headers' | 'schemas' | 'error'> & Pick<Format, 'sharesBaseWith'>

function ranking(vendor: Vendor, endpointPath: string, parts: FormatParts): Format {
  return {
    work: 'rerank',
    path: () => endpointPath,
    withModel: (body, model) => ({ ...body, model }),
    recognise: recogniseAt(endpointPath),
    exceptions: [],
    request: body => rankingFacts(body, vendor.top, vendor.returns ?? false),
    answer: ranksFacts,
    lint: {
      request: body => requestLint(body, vendor),
      answer: (body, _, asked) => answerLint(body, asked.body, vendor),
      error: () => [],
    },
    rules: rulesOf(vendor),
    ...parts,
  }
}

const jina = ranking(JINA, '/rerank', {
  ...{ name: 'rerank', base: '/v1', headers: chat.headers, error: detailFacts },
  schemas: { request: 'JinaRequest', answer: 'JinaResponse', error: 'DetailError' },
})

const voyage = ranking(VOYAGE, '/rerank', {
  ...{ name: 'rerank.voyage', base: '/v1', error: detailFacts },
  headers: withClientName({ 'user-agent': 'Voyage/v1 PythonBindings/0.3.5' }),
  schemas: { request: 'VoyageRequest', answer: 'VoyageResponse', error: 'DetailError' },
})

const cohereOne = ranking(COHERE_1, '/rerank', {
  ...{ name: 'rerank.cohere', base: '/v1', error: cohereErrorFacts },
  headers: withClientName({ 'user-agent': 'cohere-ai/8.1.0', 'x-fern-sdk-name': 'cohere-ai' }),
  schemas: { request: 'CohereRequest', answer: 'CohereResponse', error: 'CohereError' },
})

const cohere = ranking(COHERE_2, '/v2/rerank', {
  ...{ name: 'cohere.rerank', sharesBaseWith: 'cohere', base: '', headers: chat.headers, error: cohereErrorFacts },
  schemas: { request: 'V2RerankRequest', answer: 'V2RerankResponse', error: 'Error' },
})

export const RANKINGS: readonly Format[] = [jina, voyage, cohereOne, cohere]
