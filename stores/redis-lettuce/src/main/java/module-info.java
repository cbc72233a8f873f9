/**
 * Locks in Redis over Lettuce: an existing client of the application, or the parameter {@code
 * wire=lettuce}. Start reading at {@code io.mortise.redis.lettuce}.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.redis.lettuce {
  requires transitive io.mortise.redis;
  requires io.mortise.support;
  requires transitive lettuce.core;
  requires io.netty.common;
  requires io.netty.handler;
  requires io.netty.transport;
  requires org.slf4j;
  requires reactor.core;
  requires static transitive org.jspecify;

  exports io.mortise.redis.lettuce;

  provides io.mortise.redis.transport.TransportProvider with
      io.mortise.redis.lettuce.LettuceTransportProvider;
}
