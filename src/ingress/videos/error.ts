export { readError } from '../errors/openai-error.ts'
