import type { MediaPart } from '../../canonical/content.ts'
import type { Dialect } from '../writer.ts'

/*
 * Upstreams that take media as bytes only: Ollama ("image URLs are not currently supported, please use base64 encoded
 * data instead", ollama/ollama `openai/openai.go`), and Claude on Bedrock and Google Cloud (langchain-google#1088,
 * pollinations#5862, `force_base64` in LiteLLM 1.110.2). Read on 2026-12-01.
 */

/** Returns true if the gateway fetches all media of the upstream's requests, those of native callers, too. */
export const fetchesUrls = ({ fetch_urls }: Dialect): boolean => fetch_urls === true

/** Returns true for a URL without TLS, which Claude refuses ("Only HTTPS URLs are supported", LiteLLM 1.110.2). */
export const isInsecure = ({ source }: MediaPart): boolean => source.type === 'url' && /^http:/i.test(source.url)
