export { readError, readInnerError } from '../errors/openai-error.ts'
