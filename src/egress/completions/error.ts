export { errorBody, writeError } from '../errors/openai-error.ts'
