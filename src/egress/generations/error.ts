export { writeError } from '../errors/openai-error.ts'
