package io.mortise.zookeeper;

import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/** One creation or removal of an attempt's node, and who is told what became of it. */
sealed interface Work {
  /** Nothing was done, or that is not known. */
  void failed(Code code);

  /** What became of a creation. */
  record Created(Code code, String path, long czxid, int capacity, int children) {
    /** The node is the only one if it followed right after our own: nobody looked. */
    static final int NOT_READ = -1;
  }

  /**
   * Of a node of an attempt.
   *
   * @param reads whether its container is read with it
   */
  record Create(String lock, Attempt attempt, String data, boolean reads, Consumer<Created> then)
      implements Work {
    /** The path, but for its number. */
    String prefix() {
      return lock + "/" + Line.prefix(attempt.weight());
    }

    @Override
    public void failed(Code code) {
      then.accept(new Created(code, "", 0, 0, 0));
    }
  }

  /** Of a node that held, with a mark for whoever watches it, or of any. */
  record Delete(String path, boolean marked, Consumer<Code> then) implements Work {
    /** A node's mark that it held: who watches it is next, and need not look who else is there. */
    private static final byte[] RELEASED = {'r'};

    List<Op> operations() {
      Op removal = Op.delete(path, -1);
      return marked ? List.of(Op.setData(path, RELEASED, -1), removal) : List.of(removal);
    }

    @Override
    public void failed(Code code) {
      then.accept(code);
    }
  }
}
