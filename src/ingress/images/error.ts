export { readError, readInnerError } from '../openai-error.ts'
