#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac.sort and hac.argsort, beside NumPy's; what they take from Arrow's libraries; where results lie."""
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import main  # noqa: E402
from python_package import PackageTest, library, needs, numpy as np  # noqa: E402

pa, pl = library("pyarrow"), library("polars")
KEYS = ("uint32", "int32", "float32", "uint64", "int64", "float64")
SIZES = (0, 1, 2, 3, 1000, 8191, 8192, 8193, 300001)  # 32 KiB are the limit of a message


def keys(dtype, n, seed=0):
    """Random bits with many equal keys, and every special value of floats."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 1 << 32, n * np.dtype(dtype).itemsize // 4, "uint32").view(dtype)
    if n:
        bits[generator.integers(0, n, n // 3)] = bits[0]
    if np.dtype(dtype).kind == "f" and n > 10:
        bits[:6] = (0.0, -0.0, np.nan, np.inf, -np.inf, -0.0)
        bits[np.isnan(bits)] = np.nan  # one kind of it, as NumPy leaves their order open
    return bits


def places(array):
    """The total order of keys, as numbers that NumPy sorts as it sorts integers."""
    if array.dtype.kind != "f":
        return array
    bits = array.view(f"i{array.itemsize}")
    top = np.iinfo(bits.dtype).max
    return np.where(np.isnan(array), top, np.where(bits < 0, ~(bits & top), bits))


def expected_order(array, descending):
    order = places(array)
    if not descending:
        return np.argsort(order, kind="stable")
    return len(order) - 1 - np.argsort(order[::-1], kind="stable")[::-1]


def same_bits(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


class Sorts(PackageTest):
    def check(self, array, like=None):
        """`array` is what is given to hac, and has the items of `like`."""
        import hac
        like = array if like is None else like
        for descending in (False, True):
            order = expected_order(like, descending)
            self.assertTrue(same_bits(np.asarray(hac.sort(array, descending=descending)), like[order]),
                            f"{like.dtype}, {len(like)} keys, {descending=}")
            got = np.asarray(hac.argsort(array, descending=descending))
            self.assertEqual(got.dtype, np.uint32)
            self.assertTrue((got == order).all(), f"argsort of {like.dtype}, {len(like)} keys, {descending=}")

    def test_types_and_sizes(self):
        for dtype in KEYS:
            for n in SIZES:
                self.check(keys(dtype, n, n))

    def test_forms_of_arrays(self):
        for dtype in ("uint32", "float64"):
            for n in (7, 20000):
                a = keys(dtype, n)
                self.check(a[::-1], a[::-1].copy())
                self.check(a[1::3], a[1::3].copy())
                self.check(a.astype(a.dtype.newbyteorder()), a)
                self.check(np.lib.stride_tricks.as_strided(a, (n,), (0,)), np.full(n, a[0]))
                a.flags.writeable = False
                self.check(a)
                shifted = np.frombuffer(b"x" + a.tobytes(), dtype, offset=1)  # unaligned
                self.check(shifted, a)

    def test_dlpack(self):
        class Tensor:
            """As those of other libraries, which have nothing but DLPack."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

            def __len__(self):
                return len(self.array)
        for dtype in ("uint32", "float64"):
            a = keys(dtype, 20000)
            self.check(Tensor(a), a)

    def test_input_is_not_changed(self):
        import hac
        for n in (100, 100000):
            a = keys("int64", n)
            before = a.copy()
            b = hac.empty(n, "int64")
            b[...] = a
            hac.sort(a), hac.sort(b), hac.argsort(b)
            self.assertTrue(same_bits(a, before) and same_bits(b.copy(), before))

    def test_pool_arrays(self):
        import hac
        for dtype in KEYS:
            for n in (0, 5, 100001):
                a = hac.empty(n, dtype)
                a[...] = keys(dtype, n)
                self.check(a, a.copy())
                self.check(a[::2], a[::2].copy())
                self.check(a[16:], a[16:].copy())
        self.assertEqual(hac.empty(3).dtype, np.float64)
        self.assertEqual(hac.empty(3, "u1,f4").dtype.itemsize, 5)
        with self.assertRaises(hac.UnsupportedError):
            hac.empty(3, object)
        with self.assertRaises(ValueError):
            hac.empty(-1)

    def test_results_are_views(self):
        """The array is where the job's result is, read-only; the memory outlives every object but the view."""
        import hac
        a = keys("uint64", 50000)
        result = hac.sort(a)
        self.assertEqual(sys.getrefcount(result.base), 2)  # of the array and of this call: nothing else keeps the memory
        job = result.base
        view = memoryview(job)
        address = np.asarray(view).ctypes.data
        self.assertEqual(result.ctypes.data, address)
        self.assertFalse(result.flags.writeable)
        self.assertFalse(result.flags.owndata)
        self.assertEqual(address % 64, 0)
        del job, view
        for seed in range(20):  # if the memory had gone back, these would get it
            hac.sort(keys("uint64", 50000, seed))
        self.assertTrue(same_bits(result, np.sort(a)))

    def test_pool_input_is_not_copied(self):
        """The process maps one more buffer, the result: a copy of the keys would be another one."""
        import hac
        pool = hac.empty(1 << 20, "uint32")
        pool[...] = keys("uint32", 1 << 20)
        maps = Path("/proc/self/maps").read_text

        def pool_bytes():
            total = 0
            for line in maps().splitlines():
                if "hac-pool" in line:
                    begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                    total += end - begin
            return total
        before = pool_bytes()
        result = hac.sort(pool)
        self.assertLess(pool_bytes() - before, 2 * result.nbytes)
        self.assertTrue((result[:-1] <= result[1:]).all())

    def test_refused(self):
        import hac
        for bad, says in ((np.zeros(3, "int16"), "astype('int32')"), (np.zeros(3, "uint8"), "astype('uint32')"),
                          (np.zeros(3, bool), "astype('uint32')"), (np.zeros(3, "float16"), "astype('float32')"),
                          (np.zeros(3, complex), "complex128"), (np.zeros(3, "M8[us]"), "view('int64')"),
                          (np.array(["a", "b"]), "<U1"), (np.array([object()]), "object"), (np.zeros((2, 2)), "2 dimensions"),
                          (np.array(1.0), "0 dimensions"), (np.ma.array([1.0, 2.0], mask=[0, 1]), "compressed"),
                          ([3, 1, 2], "numpy.asarray"), (None, "NoneType"), ("abc", "str"), (np.zeros(3, "u4,u4"), "cannot")):
            for function in (hac.sort, hac.argsort):
                with self.assertRaises(hac.UnsupportedError) as caught:
                    function(bad)
                self.assertIn(says, str(caught.exception))
                self.assertEqual(caught.exception.status, hac.Status.UNSUPPORTED)
                self.assertIsInstance(caught.exception, TypeError)
        with self.assertRaisesRegex(hac.InvalidError, "no option nonsense; there are descending, progress, devices"):
            hac.sort(np.zeros(3), nonsense=1)
        with self.assertRaises(hac.NoMemoryError):
            hac.empty(1 << 62, "f8")
        with self.assertRaisesRegex(hac.Error, "nope") as caught:
            hac.sort(keys("uint32", 100000), devices=["nope"])
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(hac.InvalidError, "priority 101"):
            hac.sort(keys("uint32", 5), priority=101)

    def test_job_options(self):
        import hac
        a = keys("uint32", 100000)
        name = hac.devices()[0]["name"]
        self.assertTrue(same_bits(hac.sort(a, devices=name, priority=3, deadline=1e6, memory_limit=1 << 30), np.sort(a)))
        self.assertIn("sort", hac.why())


@needs("pyarrow", "polars", "pandas")
class Arrow(PackageTest):
    check = Sorts.check

    def test_libraries(self):
        for dtype in KEYS:
            for n in (0, 5, 30000):
                a = keys(dtype, n)
                self.check(pa.array(a), a)
                self.check(pa.array(a)[n // 3:], a[n // 3:])
                self.check(pa.chunked_array([a[:n // 2], a[:0], a[n // 2:]]), a)
                self.check(pa.chunked_array([], pa.from_numpy_dtype(a.dtype)), a[:0])
                self.check(pl.Series(a), a)
                self.check(pl.concat([pl.Series(a), pl.Series(a)], rechunk=False), np.concatenate([a, a]))

    def test_validity_without_nulls(self):
        import hac
        array = pa.array([None, 3, 1, 2], "int64")[1:]
        self.assertEqual(hac.sort(array).to_arrow().to_pylist(), [1, 2, 3])
        self.assertEqual(hac.sort(pa.chunked_array([array, array])).to_arrow().to_pylist(), [1, 1, 2, 2, 3, 3])

    def test_pandas(self):
        import hac
        import pandas
        series = pandas.Series(keys("int64", 1000))
        self.assertTrue((np.asarray(hac.sort(series)) == np.sort(series.to_numpy())).all())

    def test_conversions_are_views(self):
        import hac
        column = hac.sort(pa.array(keys("float64", 30000)))
        address = column.to_numpy().ctypes.data
        self.assertEqual(column.to_arrow().buffers()[1].address, address)
        self.assertEqual(column.to_pandas().to_numpy().ctypes.data, address)
        self.assertEqual(column.to_polars().to_numpy().ctypes.data, address)
        self.assertEqual(np.asarray(column).ctypes.data, address)
        self.assertEqual(pa.chunked_array(column).chunk(0).buffers()[1].address, address)
        self.assertEqual(len(column), 30000)
        self.assertIn("30000 x float64", repr(column))
        self.assertIn("sort", column.why())
        self.check(column, column.to_numpy())

    def test_views_outlive_the_column(self):
        import hac
        a = keys("uint32", 50000)
        arrow, polars = hac.sort(pa.array(a)).to_arrow(), hac.sort(pa.array(a)).to_polars()
        for seed in range(10):
            hac.sort(keys("uint32", 50000, seed))
        self.assertTrue(same_bits(arrow.to_numpy(), np.sort(a)))
        self.assertTrue(same_bits(polars.to_numpy(), np.sort(a)))

    def test_released_in_threads(self):
        """Arrow's readers release columns where they like, with jobs of the same connection under way."""
        import hac
        stop = threading.Event()
        queue = []

        def drop():
            while not stop.is_set():
                if queue:
                    queue.pop()
                else:
                    time.sleep(0.0005)
        threads = [threading.Thread(target=drop) for _ in range(3)]
        for thread in threads:
            thread.start()
        a = keys("uint32", 20000)
        try:
            for _ in range(200):
                column = hac.sort(pa.array(a))
                queue.append(column.to_arrow())
                queue.append(column)
                queue.append(hac.sort(a))
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_refused(self):
        import hac
        for bad, says in ((pa.array([1, None]), "nulls"), (pa.chunked_array([[1], [None]], "int64"), "nulls"),
                          (pa.array(["a"]), 'format "u"'), (pa.array([1], "int8"), 'format "c"'),
                          (pa.array([True]), "format"), (pa.table({"a": ["b"]}), 'format "u"'),
                          (pa.chunked_array([["a"], ["b"]]), "format"), (pa.array(["a"]).dictionary_encode(), "format"),
                          (pl.DataFrame({"a": [True]}), 'format "b"'), (pa.array([[1]]), "format")):
            with self.assertRaises(hac.UnsupportedError) as caught:
                hac.sort(bad)
            self.assertIn(says, str(caught.exception))
        with self.assertRaisesRegex(hac.InvalidError, "2 columns"):
            hac.sort(pl.DataFrame({"a": [1], "b": [2]}))
        self.assertEqual(hac.sort(pl.DataFrame({"a": [3, 1]})).to_arrow().to_pylist(), [1, 3])


class Hostile(PackageTest):
    """Objects that do not keep to Arrow's protocol."""

    def test_no_capsules(self):
        import hac

        class Answers:
            def __init__(self, answer):
                self.answer = answer

            def __arrow_c_array__(self, requested_schema=None):
                if isinstance(self.answer, Exception):
                    raise self.answer
                return self.answer
        for answer in (None, 1, (), (1, 2), (None, None), ("a", "b", "c"), [1, 2], object()):
            with self.assertRaises(TypeError):
                hac.sort(Answers(answer))
        with self.assertRaises(ZeroDivisionError):
            hac.sort(Answers(ZeroDivisionError()))

    def test_no_stream(self):
        import hac

        class Answers:
            def __arrow_c_stream__(self, requested_schema=None):
                return 5
        with self.assertRaises(TypeError):
            hac.sort(Answers())

    @needs("pyarrow")
    def test_capsules_of_other_kinds(self):
        import hac

        class Swapped:
            def __arrow_c_array__(self, requested_schema=None):
                schema, array = pa.array([1, 2]).__arrow_c_array__()
                return array, schema

        class Stream:
            def __arrow_c_array__(self, requested_schema=None):
                stream = pa.chunked_array([[1]]).__arrow_c_stream__()
                return stream, stream
        for bad in (Swapped(), Stream()):
            with self.assertRaises(TypeError):
                hac.sort(bad)

    @needs("pyarrow")
    def test_consumed(self):
        import hac

        class Twice:
            def __init__(self, capsules):
                self.capsules = capsules

            def __arrow_c_array__(self, requested_schema=None):
                return self.capsules
        capsules = pa.array([1, 2]).__arrow_c_array__()
        pa.Array._import_from_c_capsule(*capsules)
        with self.assertRaisesRegex(ValueError, "consumed"):
            hac.sort(Twice(capsules))

        class TwiceStream:
            stream = pa.chunked_array([[2, 1]]).__arrow_c_stream__()

            def __arrow_c_stream__(self, requested_schema=None):
                return self.stream
        self.assertEqual(hac.sort(TwiceStream()).to_arrow().to_pylist(), [1, 2])
        with self.assertRaises((ValueError, hac.Error)):
            hac.sort(TwiceStream())

    @needs("pyarrow")
    def test_stream_that_fails(self):
        import hac

        def batches():
            yield pa.record_batch({"a": [1]})
            raise RuntimeError("the disk is gone")
        reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
        with self.assertRaisesRegex(hac.Error, "the disk is gone"):
            hac.sort(reader)

    def test_extension_alone(self):
        """What Python's files never do."""
        from hac import _hac
        with self.assertRaises(TypeError):
            _hac.Job()
        with self.assertRaises(TypeError):
            _hac.Memory()
        connection = _hac.Connection()
        for arguments in ((), (1,), (b"1234", None), (b"1234", {"type": 9}), (b"1234", {"nope": 1}), (b"1234", {}),
                          (b"1234", {"type": 1, "devices": [1]}), (b"1234", {"type": 1, "devices": (1,)}),
                          (b"1234", {"type": 1 << 40}), (b"1234", {"type": "a"}), (b"1", {"type": 1, "priority": 1 << 31})):
            with self.assertRaises((TypeError, ValueError, OverflowError), msg=str(arguments)):
                connection.sort_buffer(*arguments)
        with self.assertRaises(Exception):
            connection.alloc(0)
        job = connection.sort_buffer(np.array([2, 1], "uint32"), {"type": 1})
        with self.assertRaises(ValueError):
            memoryview(job)
        with self.assertRaises(ValueError):
            job.arrow_array()
        self.assertTrue(job.wait())
        self.assertEqual(memoryview(job).tolist(), [1, 2])
        self.assertTrue(memoryview(job).readonly)


if __name__ == "__main__":
    main()
