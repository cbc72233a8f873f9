/**
 * Fencing tokens in requests of HTTP and gRPC. Start reading at {@code
 * io.mortise.http.FencingHeader}.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.http {
  requires transitive io.mortise.core;
  requires static transitive java.net.http;
  requires static transitive jakarta.servlet;
  requires static transitive spring.web;
  requires static transitive spring.webflux;
  requires static transitive spring.core;
  requires static transitive reactor.core;
  requires static transitive io.grpc;
  requires static transitive org.jspecify;

  exports io.mortise.http;
  exports io.mortise.http.grpc;
}
