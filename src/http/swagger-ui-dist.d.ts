declare module 'swagger-ui-dist/absolute-path.js' {
  /** The folder Swagger UI's files are in. */
  const absolutePath: () => string;
  export default absolutePath;
}
