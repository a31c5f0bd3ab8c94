export { readError } from '../openai-error.ts'
