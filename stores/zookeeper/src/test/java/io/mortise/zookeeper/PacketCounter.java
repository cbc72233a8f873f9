package io.mortise.zookeeper;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A loopback port in front of a ZooKeeper server that counts requests: every packet but pings,
 * which an idle client sends by itself. Thread-safe.
 */
final class PacketCounter implements AutoCloseable {
  /** Position of a request's type, behind its number. */
  private static final int KIND = 4;

  private static final int PING = 11;

  private final ServerSocket listening;
  private final int target;
  private final AtomicInteger asked = new AtomicInteger();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  PacketCounter(int target) throws IOException {
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.target = target;
    start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** How many packets were sent to the server so far, over all connections. */
  int asked() {
    return asked.get();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        open.add(client);
        open.add(server);
        start(() -> carry(client, server, true));
        start(() -> carry(server, client, false));
      } catch (IOException e) {
        // Closed: the loop ends.
      }
    }
  }

  /** Each packet is sent with its length before it. */
  private void carry(Socket from, Socket to, boolean counts) {
    try (from;
        to) {
      DataInputStream in = new DataInputStream(from.getInputStream());
      DataOutputStream out = new DataOutputStream(to.getOutputStream());
      while (true) {
        byte[] packet = new byte[in.readInt()];
        in.readFully(packet);
        if (counts && ByteBuffer.wrap(packet).getInt(KIND) != PING) {
          asked.incrementAndGet();
        }
        ByteBuffer whole = ByteBuffer.allocate(Integer.BYTES + packet.length);
        out.write(whole.putInt(packet.length).put(packet).array());
      }
    } catch (IOException e) {
      // One end is gone: the other is closed.
    } finally {
      open.remove(from);
      open.remove(to);
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "tap");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listening.close();
      for (Socket socket : open) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
