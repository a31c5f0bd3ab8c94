import type { Format } from '../../format.ts'
import { cohere } from './cohere.ts'
import { google } from './google.ts'
import { jina } from './jina.ts'
import { embeddings } from './openai.ts'
import { voyage } from './voyage.ts'

export const EMBEDDINGS: readonly Format[] = [embeddings, voyage, jina, google, cohere]
